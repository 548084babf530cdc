import type { Command } from 'commander';
import { misuse } from './endings.ts';
import { terminal } from './terminal.ts';

/**
 * The possible next words: commands, or options after a dash.
 * @param words The words after `ops`; the last one is being typed.
 */
export function candidates(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  let command = program;
  for (const word of words.slice(0, -1)) {
    command = command.commands.find((each) => each.name() === word) ?? command;
  }
  const names = typed.startsWith('-')
    ? [command, program].flatMap((each) => each.options.map(({ long }) => long ?? ''))
    : command.commands.map((each) => each.name()).filter((name) => !name.startsWith('__'));
  return [...new Set(names)].filter((name) => name !== '' && name.startsWith(typed)).sort();
}

// Each script calls the command itself, so that they stay in sync with it.
const scripts = {
  bash: `_ops() {
  local IFS=$'\\n'
  COMPREPLY=($(ops __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ops ops`,
  zsh: `#compdef ops
_ops() {
  local -a found
  found=("\${(@f)$(ops __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _ops ops`,
  fish: `function __ops_complete
  set -l words (commandline -opc) (commandline -ct)
  ops __complete -- $words[2..-1] 2>/dev/null
end
complete -c ops -a '(__ops_complete)'`,
};

export function completionCommands(program: Command): void {
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('print the completion script for a shell')
    .action((shell: string) => {
      if (!Object.hasOwn(scripts, shell)) throw misuse(`No completion for '${shell}'`);
      terminal().stdout.write(`${scripts[shell as keyof typeof scripts]}\n`);
    });

  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[]) => {
      for (const name of candidates(program, words)) terminal().stdout.write(`${name}\n`);
    });
}
