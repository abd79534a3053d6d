# Completion of wharf for fish. Candidates come from `wharf complete`, which reads files only.

function __wharf_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    test (count $current) -gt 0; or set current ''
    for line in (command wharf complete fish -- $words $current 2>/dev/null </dev/null)
        switch $line
            case ':files' ':folders'
                # The path follows an equals sign, and for an argument also an @.
                set -l before (string match -r '^.*=@?' -- $current)
                test (count $before) -gt 0; or set before ''
                set -l typed (string replace -r '^.*=@?' '' -- $current)
                for path in (__fish_complete_path $typed)
                    printf '%s\n' "$before$path"
                end
            case ':*'
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c wharf -f -a '(__wharf_complete)'
