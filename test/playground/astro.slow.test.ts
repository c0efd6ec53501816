/** An app of Astro, made fresh, built for production with the packed package and asked by the contract of bindings. */
import { testBinding } from 'authkernel/testing'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { vi } from 'vitest'
import { root } from '../_sources.ts'
import { clean, install, run } from './_app.ts'

/** Those of the package lie beside it. */
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
const versions = { ...dependencies, astro: '5.18.2', '@astrojs/node': '9.5.5' }
const endpoint = (method: string, answer: string): string =>
  `import type { APIRoute } from 'astro'\nimport { auth } from '../auth'\n\nexport const ${method}: APIRoute = async (context) => {\n${answer}\n}\n`
const files: Record<string, string> = {
  'package.json': JSON.stringify({ name: 'app', private: true, type: 'module', dependencies: versions }),
  // Astro reads the Host header of hosts that it is told alone.
  'astro.config.mjs': `import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

export default defineConfig({
  output: 'server',
  security: { allowedDomains: [{ hostname: '127.0.0.1' }] },
  adapter: node({ mode: 'standalone' }),
})
`,
  'src/auth.ts': `import { createAuth } from 'authkernel'
import { astroBinding } from 'authkernel/bindings/astro'
import { bindingConfig } from './config'

export const auth = createAuth(bindingConfig).use(astroBinding()).astro
`,
  'src/config.ts': `export const bindingConfig = {
  secret: 'a-secret-of-more-than-32-characters-for-the-contract',
  trustHost: true,
  providers: [
    {
      id: 'credentials',
      name: 'Password',
      type: 'credentials' as const,
      credentials: { username: {}, password: { type: 'password' } },
      authorize: ({ username, password }: Record<string, unknown>) =>
        username === 'ada' && password === 'right' ? { id: 'ada', name: 'Ada', email: 'ada@example.com' } : null,
    },
  ],
}
`,
  'src/middleware.ts': "import { auth } from './auth'\n\nexport const onRequest = auth.onRequest\n",
  'src/pages/page.ts': endpoint('GET', '  return Response.json(await auth.session(context))'),
  // A page, whose frontmatter returns the rejection.
  'src/pages/guarded.astro': `---
import { auth } from '../auth'
const session = await auth.requireSession(Astro)
if (session instanceof Response) return session
return Response.json(session)
---
`,
  'src/pages/login.ts': endpoint(
    'POST',
    "  const fields = Object.fromEntries(await context.request.formData())\n  return auth.signIn(context, 'credentials', { fields, redirectTo: '/in' })",
  ),
  'src/pages/logout.ts': endpoint('POST', "  return auth.signOut(context, { redirectTo: '/out' })"),
}

// It installs and builds.
vi.setConfig({ hookTimeout: 900_000 })

testBinding({
  name: 'astro, built for production',
  fixed: true,
  async start() {
    const home = mkdtempSync(join(tmpdir(), 'authkernel-astro-'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], home)
    install(home)
    run(process.execPath, ['node_modules/astro/astro.js', 'build'], home)
    const port = await freePort()
    const env = { ...clean(), HOST: '127.0.0.1', PORT: `${port}`, NODE_ENV: 'production' }
    const child = spawn(process.execPath, ['dist/server/entry.mjs'], { cwd: home, env, stdio: 'inherit' })
    const origin = `http://127.0.0.1:${port}`
    for (let tries = 0; tries < 100; tries++) {
      const status = await fetch(`${origin}/auth/session`).then(
        (response) => response.status,
        () => 0,
      )
      if (status === 200) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return {
      origin,
      close: async () => {
        child.kill()
        rmSync(home, { recursive: true, force: true })
      },
    }
  },
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
