/** Users of the store and test users, with a button to sign in as each. One user: accounts and sessions. */
import type { AdapterUser, Content, Context, PageTools } from 'authkernel/kernel'
import type { ResolvedDevOptions } from './options.ts'

const most = 100

export async function drawUsers(ctx: Context, tools: PageTools, { users: tests }: ResolvedDevOptions): Promise<Content> {
  const { card, row, emptyState } = tools
  const lists = ctx.store?.supports('listUsers') === true
  const stored = lists ? ((await ctx.store?.listUsers({ limit: most })) ?? []) : []
  const newTests = tests.filter(({ email }) => !stored.some((user) => user.email === email))
  const none = ctx.store
    ? lists
      ? 'The store has no users yet.'
      : 'The adapter cannot list users.'
    : 'The app has no adapter: sessions are in cookies, and users are not stored.'
  return [
    newTests.length > 0 &&
      card({
        title: 'Test users',
        text: 'A test user is made at the first sign-in.',
        body: await Promise.all(
          newTests.map(async ({ email, name }) => row({ title: name, text: email, actions: await signInForm(tools, email, email) })),
        ),
      }),
    card({
      title: 'Users',
      text: stored.length === most ? `The first ${most}.` : undefined,
      body: stored.length === 0 ? emptyState({ title: none }) : await Promise.all(stored.map((user) => drawRow(tools, user))),
    }),
  ]
}

async function drawRow(tools: PageTools, { id, name, email, emailVerified }: AdapterUser): Promise<Content> {
  const { row, tag, buttonLink, html } = tools
  return row({
    title: name ?? email ?? id,
    text: [email, id],
    tags: emailVerified ? tag('verified', 'ok') : tag('not verified', 'warn'),
    actions: html`${buttonLink('Details', `/dev?tab=users&user=${encodeURIComponent(id)}`)}${await signInForm(tools, `id:${id}`, email ?? id)}`,
  })
}

export async function drawUser(ctx: Context, tools: PageTools, id: string): Promise<Content> {
  const { card, facts, row, emptyState, moment, html } = tools
  const user = await ctx.store?.getUser(id)
  if (!user) return card({ title: 'User', body: emptyState({ title: 'There is no such user.' }) })
  const accounts = ctx.store?.supports('listAccountsByUserId') ? await ctx.store.listAccountsByUserId(id) : []
  const sessions = await ctx.session.list?.(ctx, id)
  return [
    card({
      title: user.name ?? user.email ?? id,
      body: facts(Object.entries(user).map(([name, value]) => [name, valueText(value)] as const)),
      actions: await signInForm(tools, `id:${id}`, user.email ?? id),
    }),
    card({
      title: 'Accounts',
      body:
        accounts.length === 0
          ? emptyState({ title: 'No accounts at providers.' })
          : accounts.map(({ provider, providerAccountId }) => row({ title: provider, text: providerAccountId })),
    }),
    card({
      title: 'Sessions',
      body: sessions?.length
        ? sessions.map((session) =>
            row({
              title: session.id,
              text: [session.attributes?.userAgent, session.attributes?.address, html`until ${moment(session.expires)}`],
            }),
          )
        : emptyState({ title: sessions ? 'No sessions.' : 'The session strategy cannot list sessions.' }),
    }),
  ]
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function signInForm({ form, button }: PageTools, user: string, label: string): ReturnType<PageTools['form']> {
  return form('/dev', button(`Sign in as ${label}`), { act: 'signIn', user })
}
