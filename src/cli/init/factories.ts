/** Frameworks that bundle the app: a factory of the binding makes `auth`, and files of the framework's own names connect it. */
import type { BundledFramework, Framework, Project } from './project.ts'
import { createFile, readProjectFile, type Wiring } from './files.ts'

/** What differs between them. */
export interface Factory {
  /** The auth module below the project, without its ending. */
  module(project: Pick<Project, 'source'>): string
  imports: readonly string[]
  /** Around the options: what stands before and behind them. */
  open: readonly string[]
  close: string
  /** Expression that has the variables; default `process.env`. */
  env?: string
  /** Expression that is true on the development server alone. Default: what NODE_ENV says. */
  development?: string
  /** The file that the framework reads in development. */
  envFile: '.env' | '.env.local'
  /** Base path of the routes, and the port of the development server. */
  base: '/auth' | '/api/auth'
  port: number
  /** The files that connect it. */
  wire(project: Project): Wiring
}

const factories: Readonly<Record<BundledFramework, Factory>> = {
  next: {
    module: ({ source }) => `${source ? 'src/' : ''}auth`,
    imports: ["import { NextAuth } from 'authkernel/bindings/next'"],
    open: ['export const { handlers, auth, signIn, signOut, requireSession } = NextAuth({'],
    close: '})',
    development: "process.env.NODE_ENV === 'development'",
    envFile: '.env.local',
    base: '/api/auth',
    port: 3000,
    wire(project) {
      const path = `${project.source ? 'src/' : ''}app/api/auth/[...nextauth]/route.${endingOf(project)}`
      const up = `${'../'.repeat(4)}auth`
      return createFile(
        project,
        path,
        `import { handlers } from '${up}'\n\nexport const { GET, POST } = handlers\n`,
        'export `GET` and `POST` of `handlers`',
      )
    },
  },
  sveltekit: {
    module: () => 'src/auth',
    imports: ["import { env } from '$env/dynamic/private'", "import { SvelteKitAuth } from 'authkernel/bindings/sveltekit'"],
    open: ['export const { handle, signIn, signOut, session, requireSession } = SvelteKitAuth({', '  env,'],
    close: '})',
    env: 'env',
    development: 'import.meta.env?.DEV',
    envFile: '.env',
    base: '/auth',
    port: 5173,
    wire: wireSvelteKit,
  },
  nuxt: {
    module: () => 'server/utils/auth',
    imports: ["import { NuxtAuth } from 'authkernel/bindings/nuxt'"],
    open: ['export const auth = NuxtAuth({'],
    close: '})',
    development: 'import.meta.dev',
    envFile: '.env',
    base: '/auth',
    port: 3000,
    wire: (project) =>
      createFile(
        project,
        `server/middleware/auth.${endingOf(project)}`,
        '// `auth` is that of server/utils/auth, which Nuxt imports by itself.\nexport default defineEventHandler((event) => auth.handler(event))\n',
        'let it return `auth.handler(event)` of server/utils/auth',
        /\bauth\.handler\(/,
      ),
  },
  'solid-start': {
    module: () => 'src/auth',
    imports: ["import { SolidAuth } from 'authkernel/bindings/solid-start'"],
    open: ['export const auth = SolidAuth({'],
    close: '})',
    development: 'import.meta.env?.DEV',
    envFile: '.env',
    base: '/api/auth',
    port: 3000,
    wire(project) {
      const path = `src/routes/api/auth/[...solidauth].${endingOf(project)}`
      const wiring = createFile(
        project,
        path,
        "import { auth } from '../../../auth'\n\nexport const { GET, POST } = auth\n",
        'export `GET` and `POST` of `auth`',
      )
      // Vite puts no `.env` into `process.env`; vinxi, which SolidStart 1 is built on, does.
      const loads = ['ts', 'js'].some((end) => readProjectFile(project, `vite.config.${end}`)?.includes('loadEnvFile'))
      const note = "SolidStart 2 reads no .env: put `if (existsSync('.env')) process.loadEnvFile('.env')` into vite.config."
      return project.packages.has('vinxi') || loads ? wiring : { ...wiring, notes: [...wiring.notes, note] }
    },
  },
  qwik: {
    module: () => 'src/auth',
    imports: ["import { createAuth } from 'authkernel'", "import { qwikBinding } from 'authkernel/bindings/qwik'"],
    open: ['export const auth = createAuth({'],
    close: '}).use(qwikBinding())',
    development: 'import.meta.env?.DEV',
    envFile: '.env.local',
    base: '/auth',
    port: 5173,
    wire: (project) =>
      createFile(
        project,
        `src/routes/plugin@auth.${endingOf(project)}`,
        [
          "import { serverAuth$ } from 'authkernel/bindings/qwik'",
          "import { auth } from '../auth'",
          '',
          '// What begins with "server" is in no file that browsers get.',
          'export const { onRequest, useSession, useSignIn, useSignOut } = serverAuth$(() => auth)',
          '',
        ].join('\n'),
        'export what `serverAuth$(() => auth)` answers',
      ),
  },
}

function wireSvelteKit(project: Project): Wiring {
  const hooks = createFile(
    project,
    `src/hooks.server.${endingOf(project)}`,
    "export { handle } from './auth'\n",
    'put `handle` of `./auth` into its `sequence(…)` of @sveltejs/kit/hooks',
  )
  if (!project.typescript) return hooks
  const types = readProjectFile(project, 'src/app.d.ts')
  const line = "import 'authkernel/bindings/sveltekit'\n"
  if (types?.includes(line.trim())) return hooks
  const after = types === null ? `// Types \`event.locals.auth()\` and \`page.data.session\`.\n${line}` : `${line}${types}`
  return { ...hooks, changes: [...hooks.changes, { path: 'src/app.d.ts', before: types, after }] }
}

function endingOf({ typescript }: Project): 'ts' | 'js' {
  return typescript ? 'ts' : 'js'
}

/** Undefined for a server, whose file is looked for. */
export function factoryOf(framework: Framework): Factory | undefined {
  return (factories as Partial<Record<Framework, Factory>>)[framework]
}
