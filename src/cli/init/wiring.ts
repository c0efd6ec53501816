/** Connects the auth module to the app: new files, and lines in the file that makes the server. */
import { posix } from 'node:path'
import { authPath } from './auth-module.ts'
import { factoryOf } from './factories.ts'
import { readProjectFile, type Wiring } from './files.ts'
import type { Project, Server } from './project.ts'

/** Nothing for an app that is connected already. */
export function wireProject(project: Project): Wiring {
  return factoryOf(project.framework)?.wire(project) ?? wireServer(project, project.framework as Server)
}

interface Shape {
  /** The line that makes the app; its first group is the name of the variable. */
  made: RegExp
  /** The line that connects it. */
  line(app: string): string
  /** A whole server, for a project that has none yet. */
  fresh: readonly string[]
}

const port = 'const port = Number(process.env.PORT ?? 3000)'
const startMessage = 'console.log(`http://localhost:${port}/auth/signin`)'
const servers: Readonly<Record<Server, Shape>> = {
  express: {
    made: /^[ \t]*(?:export )?(?:const|let|var) (\w+)(?:: \w+)? = express\(\);?[ \t]*$/m,
    line: (app) => `${app}.use('/auth', auth.express.handler)`,
    fresh: [
      "import express from 'express'",
      '',
      'const app = express()',
      "app.use('/auth', auth.express.handler)",
      "app.get('/', auth.express.requireSession(), async (req, res) => void res.json(await auth.express.session(req)))",
      port,
      `app.listen(port, () => ${startMessage})`,
    ],
  },
  hono: {
    made: /^[ \t]*(?:export )?(?:const|let|var) (\w+) = new Hono(?:<[^\n]*>)?\([^\n]*\);?[ \t]*$/m,
    line: (app) => `${app}.use(auth.hono.handler)`,
    fresh: [
      "import { serve } from '@hono/node-server'",
      "import { Hono } from 'hono'",
      '',
      'const app = new Hono()',
      'app.use(auth.hono.handler)',
      "app.get('/', auth.hono.requireSession(), async (c) => c.json(await auth.hono.session(c)))",
      port,
      `serve({ fetch: app.fetch, port }, () => ${startMessage})`,
    ],
  },
  fastify: {
    made: /^[ \t]*(?:export )?(?:const|let|var) (\w+) = [fF]astify\((?:[^\n]*\)|\{\n[\s\S]*?\n\s*\}\));?[ \t]*$/m,
    line: (app) => `await ${app}.register(auth.fastify.plugin, { prefix: '/auth' })`,
    fresh: [
      "import fastify from 'fastify'",
      '',
      'const app = fastify()',
      "await app.register(auth.fastify.plugin, { prefix: '/auth' })",
      "app.get('/', { preHandler: auth.fastify.requireSession() }, (request, reply) => auth.fastify.session(request, reply))",
      port,
      'await app.listen({ port })',
      startMessage,
    ],
  },
  koa: {
    made: /^[ \t]*(?:export )?(?:const|let|var) (\w+) = new Koa\([^\n]*\);?[ \t]*$/m,
    line: (app) => `${app}.use(auth.koa.handler)`,
    fresh: [
      "import Koa from 'koa'",
      '',
      'const app = new Koa()',
      'app.use(auth.koa.handler)',
      'app.use(auth.koa.requireSession())',
      'app.use((ctx) => void (ctx.body = ctx.state.session))',
      port,
      `app.listen(port, () => ${startMessage})`,
    ],
  },
  h3: {
    made: /^[ \t]*(?:export )?(?:const|let|var) (\w+) = new H3\([^\n]*\);?[ \t]*$/m,
    line: (app) => `${app}.use((event) => auth.h3.handler(event))`,
    fresh: [
      "import { H3, serve } from 'h3'",
      '',
      'const app = new H3()',
      'app.use((event) => auth.h3.handler(event))',
      "app.get('/', async (event) => (await auth.h3.requireSession()(event)) ?? auth.h3.session(event))",
      port,
      'serve(app, { port })',
    ],
  },
}
const places = ['index', 'app', 'server', 'main'].flatMap((name) => [`src/${name}`, name])

function wireServer(project: Project, framework: Server): Wiring {
  const { made, line, fresh } = servers[framework]
  const auth = authPath(project)
  const endings = project.typescript ? ['ts', 'mts', 'js', 'mjs'] : ['js', 'mjs', 'ts']
  const files = places.flatMap((place) => endings.map((ending) => `${place}.${ending}`))
  for (const path of files) {
    const before = readProjectFile(project, path)
    const match = before === null ? null : made.exec(before)
    if (before === null || !match) continue
    if (before.includes(`auth.${framework}`)) return { changes: [], notes: [] }
    const indent = /^[ \t]*/.exec(match[0])?.[0] ?? ''
    const semicolon = match[0].trimEnd().endsWith(';') ? ';' : ''
    const connected = before.replace(match[0], () => `${match[0]}\n${indent}${line(match[1] ?? 'app')}${semicolon}`)
    return { changes: [{ path, before, after: withImport(connected, specifierOf(project, path, before)) }], notes: [] }
  }
  const path = `${project.source ? 'src/' : ''}server.${project.typescript ? 'ts' : project.esm ? 'js' : 'mjs'}`
  if (readProjectFile(project, path) !== null)
    return { changes: [], notes: [`No file was found that makes the app. Add \`${line('app')}\` to it, and import \`auth\` of ${auth}.`] }
  const [first = '', ...rest] = fresh
  const own = `import { auth } from '${specifierOf(project, path, '')}'`
  const lines = fresh[1] === '' ? [first, own, ...rest] : [first, rest[0] ?? '', own, ...rest.slice(1)]
  return { changes: [{ path, before: null, after: `${lines.join('\n')}\n` }], notes: [] }
}

/** The auth module as a file names it: with the ending that its other imports have. */
function specifierOf(project: Project, from: string, text: string): string {
  const path = posix.relative(posix.dirname(from), authPath(project))
  const relative = path.startsWith('.') ? path : `./${path}`
  if (!project.typescript) return relative
  const ending = /from ['"]\.[^'"]*\.(ts|js)['"]/.exec(text)?.[1] ?? (project.namesTs ? 'ts' : 'js')
  return relative.replace(/\.ts$/, `.${ending}`)
}

/** Behind the last import of a file, or its last `require`. */
function withImport(text: string, path: string): string {
  const imports = [...text.matchAll(/^import\b[\s\S]*?['"][^'"\n]+['"];?[ \t]*$/gm)]
  // Node loads ES modules by `require` from 20.19 on.
  const requires = imports.length > 0 ? [] : [...text.matchAll(/^(?:const|let|var) [^\n]*= require\(['"][^'"\n]+['"]\);?[ \t]*$/gm)]
  const last = imports.at(-1) ?? requires.at(-1)
  const quoted = last?.[0].includes('"') ? `"${path}"` : `'${path}'`
  const line = requires.length > 0 ? `const { auth } = require(${quoted})` : `import { auth } from ${quoted}`
  if (!last) return `${line}\n${text}`
  const end = last.index + last[0].length
  return `${text.slice(0, end)}\n${line}${last[0].trimEnd().endsWith(';') ? ';' : ''}${text.slice(end)}`
}
