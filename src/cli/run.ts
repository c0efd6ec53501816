/** The table of commands, and the one place that prints. */
import { stripVTControlCharacters } from 'node:util'
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from 'citty'
import { didYouMean } from 'authkernel/kernel'
import { audit } from './audit.ts'
import { codemod } from './codemod/codemod.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import { add } from './init/add.ts'
import { init } from './init/init.ts'
import { frameworks, stores } from './init/project.ts'
import { cleanup, reseal } from './maintenance.ts'
import { migrate } from './migrate.ts'
import { moveStore } from './move-store.ts'
import { describeProvider, listProviders } from './provider.ts'
import { createPaint, type Report, type Setting, UsageError } from './report.ts'
import { routes } from './routes.ts'
import { schema } from './schema.ts'
import { secret } from './secret.ts'
import { sso } from './sso.ts'
import { users } from './users.ts'
import { readVersion } from './package.ts'

/** What a process gives to a command. */
export interface Terminal {
  stdout: { write(text: string): unknown; isTTY?: boolean | undefined }
  stderr: { write(text: string): unknown; isTTY?: boolean | undefined }
  /** Questions are asked where a user can answer. */
  stdin?: { isTTY?: boolean | undefined }
  env: Record<string, string | undefined>
  cwd: string
}
const authArg = {
  type: 'positional',
  required: false,
  description: 'Your module that exports `auth`; default: auth.ts, src/auth.ts … below this folder',
} as const
const envArg = { type: 'string', valueHint: 'file', description: 'File with environment variables; default: .env.local and .env' } as const
const originArg = { type: 'string', valueHint: 'url', description: 'Public origin of the app, for callback URLs' } as const
const yesArg = { type: 'boolean', description: 'Write without asking' } as const
const installArg = { type: 'boolean', default: true, description: 'Install packages (--no-install: only name them)' } as const
const jsonArg = { type: 'boolean', description: 'Print JSON' } as const

/** Runs one command and prints its report. Returns the exit code. */
export async function runCli(argv: string[], terminal: Terminal): Promise<number> {
  const json = argv.includes('--json')
  const print = (text: string): void => void terminal.stdout.write(`${text}\n`)
  const asks = terminal.stdout.isTTY === true && terminal.stdin?.isTTY === true && !json && !terminal.env['CI']
  const setting: Setting = {
    env: terminal.env,
    cwd: terminal.cwd,
    paint: createPaint(terminal.stdout, terminal.env),
    ask: asks ? print : undefined,
    print: (text) => void (json || print(text)),
    status: {
      replaces: terminal.stderr.isTTY === true,
      write: (text) => {
        if (terminal.stderr.isTTY) terminal.stderr.write(`\r\u001B[K${text}`)
        else if (text !== '') terminal.stderr.write(`${text}\n`)
      },
    },
    progress: (text) => void (terminal.stdout.isTTY && !json && terminal.stdout.write(`\r\u001B[K${text}`)),
  }
  try {
    const main = createProgram(setting)
    const command = commandOf(main, argv)
    if (argv.includes('--version') || argv[0] === '-v') return (print(readVersion()), 0)
    if (!command || argv.includes('--help') || argv.includes('-h')) {
      if (!command && argv[0] && !argv[0].startsWith('-'))
        throw new UsageError(
          `There is no command "${argv[0]}".${didYouMean(argv[0], Object.keys(main.subCommands ?? {}))} Run \`authkernel --help\` for the list.`,
        )
      return (print(stripColors(await (command ? renderUsage(command, main) : renderUsage(main)), terminal)), 0)
    }
    refuseUnknown(command, argv.slice(1))
    const { result } = await runCommand(command, { rawArgs: argv.slice(1) })
    const { data, lines, ok = true } = result as Report
    setting.progress('')
    print(json ? JSON.stringify({ ok, ...data }, null, 2) : lines.join('\n'))
    return ok ? 0 : 1
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (json) print(JSON.stringify({ ok: false, error: message }, null, 2))
    else terminal.stderr.write(`${setting.paint.bad('error')} ${message}\n`)
    return 1
  }
}

function createProgram(setting: Setting): CommandDef {
  return defineCommand({
    meta: {
      name: 'authkernel',
      version: readVersion(),
      description: 'Set-up, secrets, migrations and health of an app that uses authkernel',
    },
    subCommands: {
      init: defineCommand({
        meta: { name: 'init', description: 'Makes your app ready to sign users in: shows the files, then writes them' },
        args: {
          framework: {
            type: 'string',
            valueHint: 'name',
            description: `${frameworks.join(', ')}; default: found in package.json`,
          },
          providers: {
            type: 'string',
            valueHint: 'ids',
            description: 'How users sign in: google,github,… or demo (a password for development)',
          },
          store: { type: 'string', valueHint: 'name', description: `Where users are kept: ${stores.join(', ')}` },
          yes: yesArg,
          install: installArg,
          json: jsonArg,
        },
        run: ({ args }) => init(args, setting),
      }),
      add: defineCommand({
        meta: { name: 'add', description: 'Puts a plugin or a provider into your auth module; without a name: lists them' },
        args: {
          name: { type: 'positional', required: false, description: 'passkeys, email, accounts, google …' },
          auth: { type: 'string', valueHint: 'file', description: 'Your module that exports `auth`; default: found as by doctor' },
          yes: yesArg,
          install: installArg,
          json: jsonArg,
        },
        run: ({ args }) => add(args, setting),
      }),
      codemod: defineCommand({
        meta: { name: 'codemod', description: 'Changes the sources of an app that moves: shows the changes, then writes them' },
        args: {
          name: { type: 'positional', required: false, description: 'next-auth-4' },
          yes: yesArg,
          json: jsonArg,
        },
        run: ({ args }) => codemod(args, setting),
      }),
      explain: defineCommand({
        meta: { name: 'explain', description: 'Tells what an error type means and what to do; without a type: lists them' },
        args: { type: { type: 'positional', required: false, description: 'Type of the error: InvalidCheck' }, json: jsonArg },
        run: ({ args }) => explain(args.type, setting),
      }),
      mcp: defineCommand({
        meta: {
          name: 'mcp',
          description: 'Serves the docs, errors, plugins and this app to agents, by the Model Context Protocol on stdin and stdout',
        },
        args: {},
        run: async () => {
          const { serveMcp } = await import('./mcp/serve.ts')
          return serveMcp(setting)
        },
      }),
      secret: defineCommand({
        meta: { name: 'secret', description: 'Makes a value for AUTH_SECRET' },
        args: {
          write: { type: 'string', valueHint: 'file', description: 'Write it into an environment file instead of printing it' },
          rotate: { type: 'boolean', description: 'With --write: put the new secret before the existing ones, which stay valid' },
          json: jsonArg,
        },
        run: ({ args }) => secret(args, setting),
      }),
      doctor: defineCommand({
        meta: { name: 'doctor', description: 'Loads your auth module and says what is wrong or unsafe' },
        args: {
          auth: authArg,
          env: envArg,
          origin: originArg,
          offline: { type: 'boolean', description: 'Ask no issuer, no store and no mail server' },
          strict: { type: 'boolean', description: 'Exit code 1 for warnings, too' },
          watch: { type: 'string', valueHint: 'seconds', description: 'Look again and again, and print what changes; ends by Ctrl-C' },
          json: jsonArg,
        },
        run: ({ args }) => doctor(args, setting),
      }),
      routes: defineCommand({
        meta: { name: 'routes', description: 'Lists the routes of your auth module and who brought them' },
        args: { auth: authArg, env: envArg, json: jsonArg },
        run: ({ args }) => routes(args, setting),
      }),
      migrate: defineCommand({
        meta: { name: 'migrate', description: 'Shows what the tables of your database lack; --apply adds it' },
        args: {
          auth: authArg,
          env: envArg,
          apply: { type: 'boolean', description: 'Run the statements; without it they are only shown' },
          concurrently: { type: 'boolean', description: 'PostgreSQL: build every index while rows are written' },
          from: {
            type: 'string',
            valueHint: 'product',
            description: 'Also take over what it stored: better-auth, clerk, auth0, firebase …',
          },
          file: { type: 'string', valueHint: 'files', description: 'With --from: files of the export, in order, with commas between them' },
          accept: { type: 'string', valueHint: 'names', description: 'With --from: problems that do not stop --apply: bans,jwks; or all' },
          conflicts: {
            type: 'string',
            valueHint: 'side',
            description: 'With --from: here or source, where both changed since the last run',
          },
          finish: { type: 'boolean', description: 'With --from better-auth: end the move; nothing more is taken over' },
          html: { type: 'string', valueHint: 'file', description: 'With --from: write the report as a page, too' },
          json: jsonArg,
        },
        run: ({ args }) => migrate(args, setting),
      }),
      sso: defineCommand({
        meta: { name: 'sso', description: '`sso test <connection>`: whether a connection of ssoPlugin can be used, and what to fix' },
        args: {
          action: { type: 'positional', required: false, description: 'test' },
          connection: { type: 'positional', required: false, description: 'Id of the connection' },
          auth: authArg,
          env: envArg,
          tenant: { type: 'string', valueHint: 'name', description: 'Name of the tenant; empty for the default one' },
          json: jsonArg,
        },
        run: ({ args }) => sso(args, setting),
      }),
      users: defineCommand({
        meta: {
          name: 'users',
          description: '`users export <user>` prints all data of a user; `users erase <user> --yes` deletes it, with a report',
        },
        args: {
          action: { type: 'positional', required: false, description: '`export` or `erase`' },
          user: { type: 'positional', required: false, description: 'Id of the user' },
          auth: authArg,
          env: envArg,
          out: { type: 'string', valueHint: 'file', description: 'New file for the data; default: they are printed' },
          yes: { type: 'boolean', description: 'Erases; without it the command says what it would erase' },
          tenant: { type: 'string', valueHint: 'name', description: 'Name of the tenant; empty for the default one' },
          json: jsonArg,
        },
        run: ({ args }) => users(args, setting),
      }),
      audit: defineCommand({
        meta: { name: 'audit', description: '`audit verify`: whether the records of auditPlugin are all there and unchanged' },
        args: {
          action: { type: 'positional', required: false, description: '`verify`' },
          auth: authArg,
          env: envArg,
          file: { type: 'string', valueHint: 'file', description: 'File with JSON lines; default: the table of records' },
          anchor: { type: 'string', valueHint: 'file', description: 'File with what `anchor` of auditPlugin got, one JSON object a line' },
          tenant: { type: 'string', valueHint: 'name', description: 'Whose records; empty: the default tenant' },
          json: jsonArg,
        },
        run: ({ args }) => audit(args, setting),
      }),
      schema: defineCommand({
        meta: { name: 'schema', description: 'Prints models of the tables of records for prisma, drizzle or as sql' },
        args: {
          kind: { type: 'positional', required: true, description: 'prisma, drizzle or sql' },
          auth: authArg,
          env: envArg,
          json: jsonArg,
        },
        run: ({ args }) => schema(args, setting),
      }),
      cleanup: defineCommand({
        meta: { name: 'cleanup', description: 'Removes expired rows: sessions, links, marks, records. Run it once a day' },
        args: { auth: authArg, env: envArg, json: jsonArg },
        run: ({ args }) => cleanup(args, setting),
      }),
      'move-store': defineCommand({
        meta: { name: 'move-store', description: 'Moves the sessions of the adapter into the session store, while the app runs' },
        args: { auth: authArg, env: envArg, json: jsonArg },
        run: ({ args }) => moveStore(args, setting),
      }),
      reseal: defineCommand({
        meta: { name: 'reseal', description: 'Seals the fields of records with the newest secret, before a former one is dropped' },
        args: {
          auth: authArg,
          env: envArg,
          tenant: { type: 'string', valueHint: 'name', description: 'Tenant whose records are sealed; default: the default namespace' },
          json: jsonArg,
        },
        run: ({ args }) => reseal(args, setting),
      }),
      provider: defineCommand({
        meta: { name: 'provider', description: 'Tells how to set up a built-in provider; without an id: lists them' },
        args: {
          id: { type: 'positional', required: false, description: 'Id of the provider, `google` for example' },
          origin: originArg,
          json: jsonArg,
        },
        run: ({ args }) => (args.id ? describeProvider(args.id, args.origin, setting) : listProviders()),
      }),
    },
  })
}

function commandOf(main: CommandDef, argv: string[]): CommandDef | undefined {
  const commands = main.subCommands as Record<string, CommandDef>
  const name = argv.find((arg) => !arg.startsWith('-'))
  return name !== undefined && argv[0] === name && Object.hasOwn(commands, name) ? commands[name] : undefined
}

// citty passes over options it does not know; a mistyped --aply must not look like a dry run that was wanted.
function refuseUnknown(command: CommandDef, argv: string[]): void {
  const known = Object.entries(command.args as ArgsDef).flatMap(([name, { type }]) => (type === 'positional' ? [] : [name]))
  for (const arg of argv) {
    const name = /^--?(?:no-)?([^=]+)/.exec(arg)?.[1]
    if (name !== undefined && !known.includes(name))
      throw new UsageError(`There is no option "${arg}". Known: ${known.map((option) => `--${option}`).join(', ')}.`)
  }
  const positionals = argv.filter((arg, i) => !arg.startsWith('-') && !takesValue(command, argv[i - 1]))
  const allowed = Object.values(command.args as ArgsDef).filter(({ type }) => type === 'positional').length
  if (positionals.length > allowed) throw new UsageError(`Too many arguments: ${positionals.slice(allowed).join(' ')}.`)
}

function takesValue(command: CommandDef, arg: string | undefined): boolean {
  return arg?.startsWith('--') === true && !arg.includes('=') && (command.args as ArgsDef)[arg.slice(2)]?.type === 'string'
}

// citty styles its help even when the output is no terminal.
function stripColors(text: string, { stdout, env }: Terminal): string {
  return stdout.isTTY && !env['NO_COLOR'] ? text : stripVTControlCharacters(text)
}
