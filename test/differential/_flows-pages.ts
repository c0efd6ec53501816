/** The host's own pages, the built-in ones, and what a theme does to them. */
import type { Flow, Kit } from './_flow.ts'
import { acme, everything, form, hub, mail } from './_hosts.ts'

type Options = Record<string, unknown>

const own = ['/mine', '/mine?a=b', 'https://other.example/mine', 'http://localhost:3000/mine?a=b']
const kinds = ['signIn', 'signOut', 'error', 'verifyRequest', 'newUser'] as const
const paths = [
  '/signin',
  '/signin?error=AccessDenied',
  '/signin?callbackUrl=/x',
  '/signin?error=CredentialsSignin&code=c',
  '/signout',
  '/signout?callbackUrl=/x',
  '/error',
  '/error?error=Verification',
  '/verify-request',
  '/verify-request?provider=mail&type=email',
]

const visit: Flow['run'] = async (b) => {
  for (const path of paths) await b.get(path)
}

export const pageFlows: Flow[] = [
  ...kinds.flatMap((kind) =>
    own.map((page): Flow => ({ name: `pages.${kind} ${page}`, config: (kit) => everything(kit, { pages: { [kind]: page } }), run: visit })),
  ),
  {
    name: 'all pages',
    config: (kit) => everything(kit, { pages: Object.fromEntries(kinds.map((kind) => [kind, `/${kind}`])) }),
    run: visit,
  },
  ...kinds.map((kind): Flow => ({
    name: `pages.${kind}, return-redirect`,
    config: (kit) => everything(kit, { pages: { [kind]: '/mine' } }),
    run: async (b) => {
      for (const path of paths) await b.get(path, { headers: { 'x-auth-return-redirect': '1' } })
    },
  })),
  ...['auto', 'dark', 'light'].map((colorScheme): Flow => ({
    name: `theme ${colorScheme}`,
    config: (kit) => everything(kit, { theme: { colorScheme, brandColor: '#123456', buttonText: '#ffffff' } }),
    run: visit,
  })),
  { name: 'a logo', config: (kit) => everything(kit, { theme: { logo: '/logo.svg' } }), run: visit },
  ...lists(),
  ...fields(),
]

/** Which providers a page shows, in which order. */
function lists(): Flow[] {
  const list: [string, (kit: Kit) => Options[]][] = [
    ['nothing', () => []],
    ['one of each', (kit) => [acme(kit), hub(kit), mail(kit), form(kit)]],
    ['the other way round', (kit) => [form(kit), mail(kit), hub(kit), acme(kit)]],
    ['two forms', (kit) => [form(kit), form(kit, { id: 'ldap', name: 'LDAP' })]],
    ['a form without fields', (kit) => [acme(kit), form(kit, { credentials: undefined })]],
    ['names with markup', (kit) => [acme(kit, { name: '<b>"A" & \'B\'</b>' }), form(kit, { name: '</form><script>' })]],
  ]
  return list.map(([name, providers]): Flow => ({
    name: `sign-in page: ${name}`,
    config: (kit) => ({ providers: providers(kit), adapter: kit.adapter(), session: { strategy: 'jwt' } }),
    run: async (b) => {
      await b.get('/signin')
      await b.get('/providers')
      await b.get('/signin?callbackUrl=%2Fx&email=a%40b.example&error=OAuthAccountNotLinked')
    },
  }))
}

/** Inputs of a form. */
function fields(): Flow[] {
  const inputs: Options[] = [
    { otp: { label: 'Code', type: 'text', pattern: '[0-9]{6}', required: true, title: 'Six digits' } },
    { remember: { label: 'Remember me', type: 'checkbox' } },
    { age: { label: 'Age', type: 'number', min: 1, max: 9 } },
    { tenant: { type: 'hidden', value: 't1' } },
    { plain: {} },
    { email: { label: 'Mail', type: 'email' } },
    {},
  ]
  return inputs.map((credentials): Flow => ({
    name: `fields: ${Object.keys(credentials).join() || 'none'}`,
    config: (kit) => ({ providers: [form(kit, { credentials })] }),
    run: async (b) => void (await b.get('/signin')),
  }))
}
