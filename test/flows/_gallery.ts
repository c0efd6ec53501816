/** A page with every part of `tools`, and an account page with sessions, connected providers and ways to connect more. */
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { definePlugin, type PageDraw, type Provider, type Theme } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { accountsPlugin } from 'authkernel/plugins/accounts'
import { apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { stepUpPlugin } from 'authkernel/plugins/step-up'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import passkey from 'authkernel/providers/passkey'
import { listen, oauth, secret } from './_pages.ts'

const ada: Provider = {
  id: 'credentials',
  name: 'Name',
  type: 'credentials',
  credentials: { user: { label: 'User' } },
  authorize: ({ user }) => ({ id: String(user), name: 'Ada Lovelace', email: 'ada@example.com' }),
}
const people = ['Ada Lovelace', 'Grace Hopper', 'Wilhelmina-Konstantina van der Somewhere-Longest']

/** All parts, with long texts where users have long texts. */
export const drawGallery: PageDraw = async (ctx, tools) => {
  const { html, card, row, table, dialog, tabs, emptyState, copyable, tag, avatar, moment, button, buttonLink, stats, skeleton, facts } =
    tools
  const ago = (days: number) => moment(new Date(ctx.now.getTime() - days * 86_400_000))
  const remove = await tools.form('/gallery', button('Remove Grace', { tone: 'danger' }), { action: 'remove' })
  return {
    title: 'Members',
    lead: 'Acme Inc · 3 members, 1 invitation',
    layout: 'wide',
    navigation: {
      label: 'Organization',
      items: [
        { label: 'Members', to: '/gallery', current: true },
        { label: 'Teams', to: '/gallery?teams' },
        { label: 'Settings', to: '/gallery?settings' },
      ],
    },
    body: [
      tabs({
        label: 'Lists',
        items: [
          { label: 'People', to: '/gallery', current: true },
          { label: 'Invitations', to: '/gallery?invited' },
        ],
      }),
      stats([
        { label: 'Users', value: '12,481', text: '+312' },
        { label: 'Sign-ins', value: '48,902', text: '98.7 % succeeded' },
        { label: 'Refused', value: '634' },
      ]),
      card({
        id: 'people',
        title: 'People',
        text: 'Everybody who may see what Acme does.',
        actions: button('Invite', { tone: 'primary' }),
        body: table({
          label: 'People',
          path: '/gallery',
          query: { role: 'owner' },
          columns: [
            { title: 'User', sort: 'name' },
            { title: 'Role' },
            { title: 'Last seen', sort: 'seen' },
            { title: 'Actions', actions: true },
          ],
          rows: people.map((name, at) => [
            html`<span class="ui-who"
              >${avatar({ name })}<span>${name}<small>${name.split(' ')[0]?.toLowerCase()}@acme.example</small></span></span
            >`,
            at === 0 ? 'Owner' : 'Member',
            ago(at * 3),
            at === 1
              ? dialog({
                  id: 'remove',
                  label: 'Remove',
                  title: 'Remove Grace Hopper?',
                  text: 'She loses access at once.',
                  body: remove,
                  path: '/gallery/remove',
                  tone: 'danger',
                })
              : '',
          ]),
          search: { label: 'Search name or email', value: 'a' },
          filters: [
            {
              name: 'role',
              label: 'Role',
              value: 'owner',
              options: [
                ['', 'All roles'],
                ['owner', 'Owner'],
              ],
            },
          ],
          sort: '-seen',
          range: { from: 1, to: 3, total: 1203 },
          next: { page: '2' },
        }),
      }),
      card({
        id: 'passkeys',
        title: 'Passkeys',
        tags: tag('On', 'ok'),
        text: 'Sign in with your fingerprint, face or screen lock.',
        body: [
          row({
            id: 'key',
            title: 'iCloud Keychain',
            tags: tag('Synced'),
            text: ['added', ago(40), undefined],
            picture: '◉',
            actions: [button('Rename', { describedBy: 'key' }), button('Remove', { tone: 'danger', describedBy: 'key' })],
          }),
          row({ title: 'a-name-without-a-break-that-is-longer-than-a-phone-is-wide-and-still-has-to-fit', text: 'never used' }),
        ],
      }),
      card({
        title: 'Key',
        body: copyable('ak_0123456789abcdef0123456789abcdef0123456789abcdef', { label: 'API key', download: 'key.txt', print: true }),
      }),
      card({
        title: 'Facts',
        body: facts([
          ['Created', ago(400)],
          ['Empty', undefined],
        ]),
      }),
      card({
        title: 'Pending',
        body: emptyState({
          title: 'Nothing waits',
          text: 'Requests of other administrators are listed here.',
          action: buttonLink('Invite', '/gallery'),
        }),
      }),
      card({ title: 'Loading', body: skeleton(2) }),
      card({ title: 'Delete', text: 'This cannot be undone.', danger: true, actions: button('Delete', { tone: 'danger' }) }),
    ],
  }
}

const gallery = definePlugin({
  name: 'gallery',
  setup(kernel) {
    kernel.page('gallery', drawGallery, { path: '/gallery' })
    kernel.page(
      'galleryRemove',
      async (_ctx, { form, submit }) => ({ title: 'Remove Grace Hopper?', body: await form('/gallery', submit('Remove Grace')) }),
      {
        path: '/gallery/remove',
      },
    )
    kernel.route({ method: 'POST', path: '/gallery', handler: () => new Response('posted', { headers: { 'content-type': 'text/plain' } }) })
  },
})

export async function startGallery({ locale, theme }: { locale?: string; theme?: Theme } = {}): Promise<{
  url: string
  errors: unknown[]
  close(): Promise<void>
}> {
  const store = memoryAdapter()
  await store.createUser!({ id: 'ada', email: 'ada@example.com', name: 'Ada Lovelace', emailVerified: new Date(0) })
  await store.linkAccount!({ userId: 'ada', provider: 'orbit', providerAccountId: '1', type: 'oauth' })
  for (const [credentialID, credentialBackedUp] of [
    ['cGhvbmU=', true],
    ['a2V5', false],
  ] as const) {
    await store.linkAccount!({ userId: 'ada', provider: 'passkey', providerAccountId: credentialID, type: 'webauthn' })
    const key = {
      credentialID,
      userId: 'ada',
      providerAccountId: credentialID,
      credentialPublicKey: 'AA==',
      counter: 0,
      transports: 'internal',
    }
    await store.createAuthenticator!({
      ...key,
      credentialDeviceType: credentialBackedUp ? 'multiDevice' : 'singleDevice',
      credentialBackedUp,
    })
  }
  const errors: unknown[] = []
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    appName: 'Acme',
    providers: [
      ada,
      oauth('orbit', 'Orbit', 'https://orbit.example/authorize'),
      oauth('corp', 'Corp ID', 'https://corp.example/authorize'),
    ],
    session: { strategy: 'database' },
    ...(theme && { theme }),
    ...(locale !== undefined && { locale: () => locale, messages: locale === 'ar' ? { ar: { 'signOut.submit': 'خروج' } } : {} }),
    logger: { error: (error) => void errors.push(error), warn: () => undefined, debug: () => undefined },
  })
    .use(adapterPlugin(store))
    .use(accountsPlugin())
    .use(stepUpPlugin())
    .use(webauthnPlugin(passkey({ enableConditionalUI: false, formFields: {} })))
    .use(apiKeysPlugin({ scopes: ['orders.read', 'orders.write'], accountSection: true }))
    .use(gallery)
    .use(nodeBinding())
  await auth.ready()
  await auth.apiKeys.create(
    { userId: 'ada' },
    { name: 'Deploys from the continuous integration of the shop', scopes: ['orders.read'], expiresIn: 7_776_000 },
  )
  const { url, close } = await listen((req, res) => {
    void auth.node.handler(req, res).then((answered) => answered || res.end('<!doctype html><title>app</title>'))
  })
  return { url, errors, close }
}
