/** The pages of the documentation site: their order, where their links lead, which of them nothing leads to. Knows nothing of VitePress. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
export const repository = 'https://github.com/authkernel/authkernel/blob/main'

/** One Markdown file below docs/: its path there, title, first sentence and text. */
export interface Page {
  path: string
  title: string
  lead: string
  text: string
}

interface Item {
  text: string
  link: string
}
interface Group {
  text: string
  /** A group that folds has a page of its own to go to: without one VitePress nests a button in a button. */
  link?: string
  collapsed?: boolean
  items: Item[]
}

/** A part of the sidebar: its pages in order, then the pages of all further plugins of these folders of `plugins/`. A page stands where it is listed first. */
interface Section {
  text: string
  pages: readonly string[]
  folders?: readonly string[]
}

const sections: readonly Section[] = [
  {
    text: 'Get started',
    pages: [
      'quick-start.md',
      'tasks/protect-a-route.md',
      'tasks/sign-in-with-google.md',
      'tasks/password-sign-up.md',
      'tasks/add-a-role.md',
      'concepts/sessions.md',
      'concepts/users-and-accounts.md',
      'concepts/database.md',
      'concepts/cookies.md',
      'concepts/typescript.md',
      'playground.md',
    ],
  },
  {
    text: 'Frameworks',
    pages: [
      'bindings/next.md',
      'bindings/sveltekit.md',
      'bindings/nuxt.md',
      'bindings/astro.md',
      'bindings/react-router.md',
      'bindings/solid-start.md',
      'bindings/qwik.md',
      'bindings/express.md',
      'bindings/fastify.md',
      'bindings/hono.md',
      'bindings/elysia.md',
      'bindings/koa.md',
      'bindings/nest.md',
      'bindings/h3.md',
      'bindings/node.md',
      'bindings/fetch.md',
      'bindings/edge.md',
      'bindings/lambda.md',
      'bindings/rpc.md',
      'bindings/live.md',
      'client.md',
      'ui.md',
      'parts.md',
      'tasks/custom-sign-in-page.md',
      'tasks/spa-with-api.md',
      'tasks/mobile-app.md',
    ],
  },
  {
    text: 'Sign-in methods',
    pages: [
      'providers/README.md',
      'plugins/passwords.md',
      'plugins/usernames.md',
      'plugins/email.md',
      'plugins/codes.md',
      'plugins/phone.md',
      'plugins/webauthn.md',
      'plugins/guest.md',
      'plugins/credentials.md',
      'plugins/oidc.md',
      'plugins/oauth.md',
      'plugins/pages.md',
      'plugins/mail.md',
      'tasks/send-mails.md',
      'plugins/notices.md',
      'plugins/address.md',
    ],
    folders: ['sign-in', 'pages'],
  },
  {
    text: 'Sessions',
    pages: [
      'plugins/session-jwt.md',
      'plugins/session-database.md',
      'session-stores.md',
      'plugins/redis.md',
      'plugins/device-sessions.md',
      'plugins/multi-session.md',
      'plugins/revocation-feed.md',
      'adapters.md',
      'plugins/sql.md',
    ],
    folders: ['sessions', 'adapters'],
  },
  {
    text: 'Users and organizations',
    pages: [
      'roles-and-own-fields.md',
      'tasks/restrict-sign-up.md',
      'plugins/admission.md',
      'plugins/accounts.md',
      'plugins/admin.md',
      'plugins/organizations.md',
      'tasks/several-tenants.md',
      'plugins/tenants.md',
      'tasks/webhooks.md',
      'tasks/stripe.md',
    ],
    folders: ['people'],
  },
  {
    text: 'Security',
    pages: ['plugins/two-factor.md', 'plugins/step-up.md', 'plugins/limits.md', 'plugins/captcha.md', 'plugins/audit.md', 'security.md'],
    folders: ['security'],
  },
  {
    text: 'Enterprise',
    pages: [
      'plugins/sso.md',
      'plugins/saml.md',
      'plugins/scim.md',
      'plugins/portal.md',
      'tasks/connect-entra.md',
      'tasks/connect-okta.md',
      'tasks/connect-google.md',
      'plugins/single-logout.md',
      'plugins/shared-signals.md',
    ],
  },
  {
    text: 'Be a provider',
    pages: [
      'plugins/authorization-server.md',
      'tasks/ai-agents.md',
      'plugins/agents.md',
      'plugins/api-keys.md',
      'plugins/bearer.md',
      'plugins/jwt.md',
      'plugins/device-flow.md',
      'plugins/provider-tokens.md',
      'conformance.md',
    ],
    folders: ['federation', 'machines'],
  },
  {
    text: 'Deploy',
    pages: [
      'deployment.md',
      'tasks/docker.md',
      'tasks/behind-a-proxy.md',
      'runtimes.md',
      'testing.md',
      'tasks/test-signed-in-pages.md',
      'plugins/health.md',
      'plugins/telemetry.md',
      'plugins/dev.md',
      'plugins/debug.md',
      'plugins/cleanup.md',
      'speed.md',
    ],
    folders: ['evidence'],
  },
  {
    text: 'Reference',
    pages: [
      'options.md',
      'hooks.md',
      'errors.md',
      'cli.md',
      'reference/README.md',
      'api/README.md',
      'writing-a-plugin.md',
      'writing-a-binding.md',
      'writing-a-session-strategy.md',
      'architecture.md',
      'rows.md',
      'style.md',
      'licenses.md',
    ],
  },
  {
    text: 'Migrate',
    pages: [
      'migrating-from-authjs.md',
      'plugins/authjs-compat.md',
      'differences.md',
      'migrating-from-nextauth-4.md',
      'plugins/next-auth-4-compat.md',
      'migrating-from-better-auth.md',
      'plugins/better-auth-compat.md',
      'migrating-from-services.md',
      'migrate/clerk.md',
      'migrate/auth0.md',
      'migrate/supabase.md',
      'migrate/workos.md',
      'migrate/lucia.md',
      'migrate/passport.md',
      'migrate/iron-session.md',
      'plugins/import.md',
      'comparison.md',
    ],
    folders: ['hosting'],
  },
]

/** The sidebar: guides first, then reference and moves. Guides that no section lists come last in "Get started". */
export function sidebar(docs: string): Group[] {
  const listed = new Set(sections.flatMap(({ pages }) => pages))
  const rest = ['tasks', 'concepts', 'migrate'].flatMap((folder) => markdown(docs, folder)).filter((path) => !listed.has(path))
  return sections
    .map(({ text, pages, folders = [] }, index) => ({
      text,
      ...(index > 0 && { collapsed: true }),
      items: [
        ...pages,
        ...folders.flatMap((folder) => pluginPages(docs, folder)).filter((path) => !listed.has(path)),
        ...(index === 0 ? rest : []),
      ]
        .filter((path) => existsSync(join(docs, path)))
        .map((path) => ({ text: labelOf(readPage(docs, path).title), link: linkOf(path) })),
    }))
    .filter(({ items }) => items.length > 0)
    .map((group) => ({ ...group, ...('collapsed' in group && { link: group.items[0]!.link }) }))
}

/** Pages of the plugins in the folder `plugins/<folder>`. */
function pluginPages(docs: string, folder: string): string[] {
  return readdirSync(join(root, 'plugins', folder), { withFileTypes: true })
    .map(({ name }) => `plugins/${name}.md`)
    .filter((path) => existsSync(join(docs, path)))
}

/** Every page below a folder. */
export function readPages(docs: string): Page[] {
  return markdown(docs, '').map((path) => readPage(docs, path))
}

function readPage(docs: string, path: string): Page {
  const text = readFileSync(join(docs, path), 'utf8')
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, '')
  const title = (/^title: (.*)$/m.exec(text.slice(0, text.length - body.length))?.[1] ?? /^# (.*)$/m.exec(body)?.[1] ?? path).replaceAll(
    '`',
    '',
  )
  const lead = /^(?![#`|<>:-])\S.*(?:\n\S.*)*/m.exec(body.replace(/^```[\s\S]*?^```/gm, ''))?.[0] ?? ''
  return { path, title, lead: lead.replaceAll('\n', ' ').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1'), text: body }
}

/** Pages that neither the sidebar leads to, nor a link of a page that is reached from there or from the start page. */
export function orphans(pages: readonly Page[], groups: readonly Group[]): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const reached = new Set<string>()
  const linked = groups.flatMap(({ items }) => items.map(({ link }) => link.slice(1).replace(/^$|\/$/, '$&README') + '.md'))
  const open = ['index.md', ...linked]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const page = byPath.get(path)
    if (!page || reached.has(path)) continue
    reached.add(path)
    for (const [, target] of page.text.matchAll(/\]\(([^)\s#]+\.md)/g)) open.push(slashes(join(dirname(path), target!)))
    for (const [, target] of page.text.matchAll(/^\s*link: \/(.*)$/gm)) open.push(`${target}.md`)
  }
  return pages.map(({ path }) => path).filter((path) => !reached.has(path))
}

/** The index for language models (llmstxt.org): a line for each page. */
export function llmsTxt(pages: readonly Page[], base = '/'): string {
  const line = ({ path, title, lead }: Page): string =>
    `- [${title}](${base}${path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')})${lead ? `: ${firstSentence(lead)}` : ''}`
  const part = (heading: string, test: (path: string) => boolean): string[] => {
    const lines = pages.filter(({ path }) => path !== 'index.md' && test(path)).map(line)
    return lines.length > 0 ? [`## ${heading}`, '', ...lines, ''] : []
  }
  return [
    '# authkernel',
    '',
    '> Authentication for TypeScript servers: a small kernel and plugins. Social login, magic links, email codes, passwords, passkeys, 2FA, SSO (SAML, SCIM), organizations; sessions in a cookie or a database.',
    '',
    `The text of all pages in one file: ${base}llms-full.txt`,
    '',
    ...part('Guides', (path) => !path.includes('/') || /^(tasks|concepts)\//.test(path)),
    ...part('Frameworks', (path) => path.startsWith('bindings/')),
    ...part('Plugins', (path) => path.startsWith('plugins/')),
    ...part('Moving from another product', (path) => path.startsWith('migrate/')),
    ...part('Reference', (path) => path.startsWith('reference/')),
    ...part('API of each module', (path) => path.startsWith('api/')),
    ...part('Identity providers', (path) => path.startsWith('providers/')),
  ].join('\n')
}

/** All pages as one Markdown text, without those that TypeDoc made. */
export function markdownOf(pages: readonly Page[]): string {
  const written = pages.filter(({ path }) => !path.startsWith('api/'))
  return written.map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`).join('\n')
}

/** Where a link of a page leads on the site: files of the repository that are no pages are shown at GitHub. */
export function hrefOf(href: string, file: string, docs: string): string {
  if (/^[a-z]+:|^#/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const suffix = anchor === undefined ? '' : `#${anchor}`
  const target = resolve(dirname(file), path)
  if (target.startsWith(docs + sep) && path.endsWith('.md')) return path.replace(/README\.md$/, 'index.md') + suffix
  // The pages may be a copy of docs/: files of the repository are looked for from there. A dead link stays as it is, so that the build finds it.
  const real = resolve(root, 'docs', relative(docs, target))
  return existsSync(real) ? `${repository}/${slashes(relative(root, real))}${suffix}` : href
}

/** Anchors of headings, as GitHub makes them: the pages are read there too. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function markdown(docs: string, folder: string): string[] {
  if (!existsSync(join(docs, folder))) return []
  return readdirSync(join(docs, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => slashes(join(folder, path)))
    .sort()
}

// "Passwords: `passwordsPlugin`" has the name of the plugin beneath, in small letters. VitePress takes the text of an item as HTML.
function labelOf(title: string): string {
  const [, plain = title, name] = /^(.*): ([a-z]\w+)$/.exec(title) ?? []
  const [text, small] = [plain, name].map((part) => part?.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  return small ? `${text}<small>${small}</small>` : text!
}

function linkOf(path: string): string {
  return `/${path.replace(/README\.md$/, '').replace(/\.md$/, '')}`
}

function firstSentence(text: string): string {
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}
