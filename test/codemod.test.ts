/** `authkernel codemod next-auth-4` over apps as people write them. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { afterEach, expect, it } from 'vitest'
import { runCli } from '../src/cli/run.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

interface App {
  run(...args: string[]): Promise<{ code: number; notes: string[]; changes: string[]; removed: string[]; written: boolean }>
  read(path: string): string
  has(path: string): boolean
}

function app(files: Readonly<Record<string, string>>): App {
  const cwd = mkdtempSync(join(tmpdir(), 'authkernel-codemod-'))
  folders.push(cwd)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  return {
    async run(...args) {
      let out = ''
      const stream = { write: (text: string) => void (out += text) }
      const code = await runCli(['codemod', 'next-auth-4', '--json', ...args], { stdout: stream, stderr: stream, env: {}, cwd })
      return { code, ...(JSON.parse(out) as { notes: string[]; changes: string[]; removed: string[]; written: boolean }) }
    },
    read: (path) => readFileSync(join(cwd, path), 'utf8'),
    has: (path) => existsSync(join(cwd, path)),
  }
}

const appRouter = {
  'tsconfig.json': '{\n  // of Next\n  "compilerOptions": { "paths": { "@/*": ["./src/*"] } }\n}\n',
  'src/lib/auth.ts': `import { type NextAuthOptions, type DefaultSession } from 'next-auth'
import GitHub from 'next-auth/providers/github'
import { prisma } from './prisma'

declare module 'next-auth' {
  interface Session {
    user: { role?: string } & DefaultSession['user']
  }
}

export const authOptions: NextAuthOptions = {
  providers: [GitHub({ clientId: process.env.GITHUB_ID!, clientSecret: process.env.GITHUB_SECRET! })],
}
`,
  'src/app/api/auth/[...nextauth]/route.ts': `import NextAuth from 'next-auth'
import { authOptions } from '@/lib/auth'

const handler = NextAuth(authOptions)

export { handler as GET, handler as POST }
`,
  'src/app/page.tsx': `import { getServerSession } from 'next-auth'
import { authOptions } from '@/lib/auth'

export default async function Page() {
  const session = await getServerSession(authOptions)
  return <p>{session?.user?.name}</p>
}
`,
  'src/app/providers.tsx': `'use client'
import { SessionProvider } from 'next-auth/react'

export const Providers = SessionProvider
`,
}

it('an app of the App Router: the auth module, its route and calls of getServerSession', async () => {
  const { run, read } = app(appRouter)
  expect(await run()).toMatchObject({ code: 0, written: false })
  expect(read('src/app/page.tsx')).toBe(appRouter['src/app/page.tsx'])
  const { changes, removed, notes } = await run('--yes')
  expect(changes.sort()).toEqual(['src/app/api/auth/[...nextauth]/route.ts', 'src/app/page.tsx', 'src/lib/auth.ts'])
  expect([removed, notes]).toEqual([[], []])
  expect(read('src/lib/auth.ts')).toBe(`import NextAuth from 'authkernel/bindings/next'
import { nextAuth4CompatPlugin, nextAuth4Options } from 'authkernel/plugins/next-auth-4-compat'
import type { DefaultSession } from 'authkernel/bindings/next'
import type { NextAuth4Options } from 'authkernel/plugins/next-auth-4-compat'
import GitHub from 'authkernel/providers/github'
import { prisma } from './prisma'

declare module 'authkernel' {
  interface Session {
    user: { role?: string } & DefaultSession['user']
  }
}

export const authOptions: NextAuth4Options = {
  providers: [GitHub({ clientId: process.env.GITHUB_ID!, clientSecret: process.env.GITHUB_SECRET! })],
}

export const { handlers, auth, signIn, signOut } = NextAuth(nextAuth4Options(authOptions), nextAuth4CompatPlugin())
`)
  expect(read('src/app/api/auth/[...nextauth]/route.ts')).toBe(
    "import { handlers } from '@/lib/auth'\n\nexport const { GET, POST } = handlers\n",
  )
  expect(read('src/app/page.tsx')).toBe(`import { auth } from '@/lib/auth'

export default async function Page() {
  const session = await auth()
  return <p>{session?.user?.name}</p>
}
`)
  expect(read('src/app/providers.tsx')).toBe(appRouter['src/app/providers.tsx'])
  expect(await run('--yes')).toMatchObject({ changes: [], notes: [] })
})

it('an app of the Pages Router, whose route has the options: they get a module of their own', async () => {
  const { run, read, has } = app({
    'pages/api/auth/[...nextauth].js': `import NextAuth from "next-auth/next";
import CredentialsProvider from "next-auth/providers/credentials";
import { findUser } from "../../../lib/users";

export const authOptions = {
  providers: [CredentialsProvider({ authorize: (credentials) => findUser(credentials) })],
};

export default NextAuth(authOptions);
`,
    'lib/users.js': 'export const findUser = () => null;\n',
    'pages/api/me.js': `import { getServerSession } from "next-auth/next";
import { authOptions } from "./auth/[...nextauth]";

export default async function handler(req, res) {
  res.json(await getServerSession(req, res, authOptions));
}
`,
    'pages/members.js': `import { getServerSession } from "next-auth";
import { authOptions } from "./api/auth/[...nextauth]";
import { useSession } from "next-auth/react";

export async function getServerSideProps(context) {
  const session = await getServerSession(context.req, context.res, authOptions);
  return { props: { session, count: authOptions.providers.length } };
}
`,
  })
  const { removed, notes } = await run('--yes')
  expect([removed, notes]).toEqual([['pages/api/auth/[...nextauth].js'], []])
  expect(has('pages/api/auth/[...nextauth].js')).toBe(false)
  expect(read('auth.js')).toBe(`import NextAuth from "authkernel/bindings/next";
import { nextAuth4CompatPlugin, nextAuth4Options } from "authkernel/plugins/next-auth-4-compat";
import CredentialsProvider from "authkernel/providers/credentials";
import { findUser } from "./lib/users";

export const authOptions = {
  providers: [CredentialsProvider({ authorize: (credentials) => findUser(credentials) })],
};

export const { handlers, auth, signIn, signOut } = NextAuth(nextAuth4Options(authOptions), nextAuth4CompatPlugin());
`)
  expect(read('app/api/auth/[...nextauth]/route.js')).toBe(
    'import { handlers } from "../../../../auth";\n\nexport const { GET, POST } = handlers;\n',
  )
  expect(read('pages/api/me.js')).toContain('import { auth } from "../../auth";')
  expect(read('pages/api/me.js')).toContain('res.json(await auth(req, res));')
  // The options are used there as well.
  expect(read('pages/members.js')).toContain('import { authOptions, auth } from "../auth";')
  expect(read('pages/members.js')).toContain('const session = await auth(context);')
  expect(read('pages/members.js')).toContain('from "next-auth/react"')
  expect(await run('--yes')).toMatchObject({ changes: [] })
})

it('names what must be changed by hand, and breaks no file', async () => {
  const files = {
    'auth.ts': `import NextAuth, { type NextAuthOptions, type CallbacksOptions } from 'next-auth'
import Old from 'next-auth/providers/freshservice'
export const options = { providers: [Old({})] } satisfies NextAuthOptions
export type Callbacks = CallbacksOptions
export default NextAuth({ providers: [] })
`,
    'middleware.ts':
      "export { default } from 'next-auth/middleware'\nimport { withAuth } from 'next-auth/middleware'\nexport const other = withAuth({})\n",
    'src/proxy.ts': "export { default } from 'next-auth/middleware'\nexport const config = { matcher: ['/private'] }\n",
    'client.ts': "export { useSession } from 'next-auth/react'\n",
    'all.ts': "export * from 'next-auth/adapters'\n",
    'form.ts': "import Credentials from 'next-auth/providers/credentials'\nexport const form = Credentials({})\n",
    'server.ts':
      "import { getToken } from 'next-auth/jwt'\nimport { getServerSession } from 'next-auth'\nexport const read = async (req: never) => [await getToken({ req }), await getServerSession()]\n",
    'broken.ts': "import 'next-auth'\nexport const = 1\n",
  }
  const { run, read } = app(files)
  const { notes } = await run('--yes')
  expect(notes).toEqual([
    expect.stringContaining('auth.ts: write the options as `export const authOptions'),
    'all.ts: it exports from next-auth/adapters. Change that manually.',
    expect.stringContaining('CallbacksOptions of next-auth'),
    expect.stringContaining('no preset "freshservice"'),
    expect.stringContaining('form.ts: the fields that `authorize` gets'),
    expect.stringContaining('middleware.ts: export `auth`'),
    expect.stringContaining('server.ts: replace getServerSession'),
    expect.stringContaining('`keyInfo: nextAuth4KeyInfo`'),
    expect.stringContaining('src/proxy.ts: export `auth`'),
    'broken.ts cannot be parsed.',
  ])
  expect(read('broken.ts')).toBe(files['broken.ts'])
  for (const path of ['auth.ts', 'middleware.ts', 'server.ts']) expect(parseSync(path, read(path)).errors, read(path)).toEqual([])
})

it('refuses an unknown name', async () => {
  let out = ''
  const stream = { write: (text: string) => void (out += text) }
  expect(await runCli(['codemod', 'next-auth'], { stdout: stream, stderr: stream, env: {}, cwd: tmpdir() })).toBe(1)
  expect(out).toContain('There is no codemod "next-auth". Known: next-auth-4.')
})
