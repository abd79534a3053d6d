# Completion of wharf for Bash. Candidates come from `wharf complete`, which reads files only.

_wharf() {
    local line=${COMP_LINE:0:COMP_POINT}
    local current=${COMP_WORDS[COMP_CWORD]}
    local candidate path action prefix at=
    # Bash splits a word at some signs, such as the = in key=value, and replaces only what follows.
    case $current in
        '' | *[!:=@]*) ;;
        *) current= ;;
    esac
    prefix=${line##*[[:space:]]}
    prefix=${prefix%"$current"}
    # An @ splits a word as well, but is replaced together with what follows.
    case $prefix in
        *@) at=@ prefix=${prefix%@} ;;
    esac
    COMPREPLY=()
    while IFS= read -r candidate; do
        case $candidate in
            :nospace) type compopt &>/dev/null && compopt -o nospace ;;
            :files | :folders)
                [ -z "$at" ] && type compopt &>/dev/null && compopt -o filenames
                action=file
                if [ "$candidate" = :folders ]; then action=directory; fi
                while IFS= read -r path; do
                    if [ -n "$at" ] && [ -d "$path" ]; then
                        path=$path/
                        type compopt &>/dev/null && compopt -o nospace
                    fi
                    # With an @ in front Bash does not see a file, and does not quote it.
                    [ -n "$at" ] && printf -v path %q "$path"
                    COMPREPLY+=("$at$path")
                done < <(compgen -A "$action" -- "$current")
                ;;
            :*) ;;
            *) COMPREPLY+=("${candidate#"$prefix"}") ;;
        esac
    done < <(command wharf complete bash -- "$line" 2>/dev/null </dev/null)
}

complete -F _wharf wharf
