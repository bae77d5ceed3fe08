// Completion for shells. In: the commands as they are declared. Out: a script with the words that can follow each of them.
import { Argument, type Command } from 'commander'
import { printLine } from '../output.ts'
import { examples, type Session } from '../session.ts'

/** By the commands before it, such as `keys create`; the empty text is the program itself. */
type Words = Map<string, { word: string; description: string }[]>

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript }

export function addCompletion(program: Command, _: Session): void {
  const completion = program
    .command('completion')
    .description('print the completion of a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .action((shell: keyof typeof SHELLS) => printLine(SHELLS[shell](wordsOf(program))))
  examples(
    completion,
    'completion bash > ~/.local/share/bash-completion/completions/countersign',
    'completion zsh > ~/.zsh/completions/_countersign    # a folder of your fpath',
    'completion fish > ~/.config/fish/completions/countersign.fish',
  )
}

function wordsOf(command: Command, path = ''): Words {
  const options = command.options.map(({ long, short, description }) => ({ word: long ?? short ?? '', description }))
  const commands = command.commands.map(one => ({ word: one.name(), description: one.description() }))
  const inside = command.commands.flatMap(one => [...wordsOf(one, `${path} ${one.name()}`.trim())])
  return new Map([[path, [...commands, ...options]], ...inside])
}

const list = (words: { word: string }[]): string => words.map(({ word }) => word).join(' ')

/** The branches of a `case` over the commands typed so far. Options and arguments among them are left out. */
const branches = (words: Words): string =>
  [...words].map(([path, next]) => `    '${path}') words='${list(next)}' ;;`).join('\n')

const commandNames = (words: Words): string =>
  [...new Set([...words.keys()].flatMap(path => path.split(' ')))].filter(Boolean).join('|')

function bashScript(words: Words): string {
  return `# bash completion of countersign
_countersign() {
  local words='' path='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in ${commandNames(words)}) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${branches(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _countersign countersign`
}

function zshScript(words: Words): string {
  return `#compdef countersign
_countersign() {
  local words_next='' path_so_far='' word
  for word in \${words[2,CURRENT-1]}; do
    case "$word" in ${commandNames(words)}) path_so_far="\${path_so_far:+$path_so_far }$word" ;; esac
  done
  case "$path_so_far" in
${branches(words).replaceAll('words=', 'words_next=')}
  esac
  compadd -- \${=words_next}
  _files
}
compdef _countersign countersign
# Where zsh loads this file at the first TAB, the file itself is the function that completes.
[[ $funcstack[1] == _countersign ]] && _countersign`
}

function fishScript(words: Words): string {
  const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const lines = [...words].flatMap(([path, next]) =>
    next.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
      return `complete -c countersign -n ${quoted(`__countersign_at ${path}`.trim())} ${what} -d ${quoted(description)}`
    }),
  )
  return `# fish completion of countersign
function __countersign_at
  set -l path
  for word in (commandline -opc)[2..]
    string match -qr '^(${commandNames(words)})$' -- $word; and set -a path $word
  end
  test "$path" = "$argv"
end
${lines.join('\n')}`
}
