#compdef wharf
# Completion of wharf for Zsh. Candidates come from `wharf complete`, which reads files only.

_wharf() {
    local line word about
    local -a values shown space
    local paths=''
    while IFS= read -r line; do
        case $line in
            (:nospace) space=(-S '') ;;
            (:files | :folders) paths=$line ;;
            (:*) ;;
            (*)
                word=${line%%$'\t'*}
                about=''
                if [[ $line == *$'\t'* ]]; then about=${line#*$'\t'}; fi
                values+=("$word")
                shown+=("$word${about:+  -- $about}")
                ;;
        esac
    done < <(command wharf complete zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)
    if (( $#values )); then
        compadd -l "${space[@]}" -d shown -a values
    fi
    if [[ -n $paths ]]; then
        # The path follows an equals sign, and for an argument also an @.
        compset -P '*=@' || compset -P '*='
        if [[ $paths == :folders ]]; then _files -/; else _files; fi
    fi
}

if [[ ${funcstack[1]} == _wharf ]]; then
    _wharf "$@"
else
    compdef _wharf wharf
fi
