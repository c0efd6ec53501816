/** The page: one tab for each subject. Texts are English, for developers. */
import type { Content, Context, Kernel, PageTools, PageView } from 'authkernel/kernel'
import type { ResolvedDevOptions } from './options.ts'
import { drawUser, drawUsers } from './panel-users.ts'
import type { DevState } from './state.ts'

type Params = Readonly<Record<string, string | undefined>>
type Draw = () => Content | Promise<Content>

export async function drawPanel(
  kernel: Pick<Kernel, 'inspect'>,
  state: DevState,
  options: ResolvedDevOptions,
  ctx: Context,
  tools: PageTools,
  params: Params,
): Promise<PageView> {
  const tabs: Readonly<Record<string, readonly [label: string, draw: Draw]>> = {
    users: ['Users', () => (params['user'] === undefined ? drawUsers(ctx, tools, options) : drawUser(ctx, tools, params['user']))],
    mails: [`Mails (${state.mails.length})`, () => drawMails(tools, state)],
    requests: [`Requests (${state.requests.length})`, () => drawRequests(tools, state)],
    hooks: ['Hooks', () => drawHooks(kernel, tools, state)],
    routes: ['Routes', () => drawRoutes(kernel, tools)],
    clock: ['Clock', () => drawClock(ctx, tools, state)],
  }
  const asked = params['tab'] ?? 'users'
  const tab = Object.hasOwn(tabs, asked) ? asked : 'users'
  const session = await ctx.currentSession()
  const items = Object.entries(tabs).map(([name, [label]]) => ({ label, to: `/dev?tab=${name}`, current: name === tab }))
  return {
    title: 'Development panel',
    lead: session ? `Signed in as ${session.user?.email ?? session.user?.name ?? 'a user'}.` : 'Signed out.',
    body: (await tabs[tab]?.[1]()) ?? '',
    layout: 'wide',
    navigation: { label: 'Development panel', items },
  }
}

async function drawMails(
  { card, row, emptyState, html, moment, buttonLink, form, button }: PageTools,
  { mails }: DevState,
): Promise<Content> {
  const text = 'Mails and messages that the app sent since it started. Nothing is stored.'
  if (mails.length === 0) return card({ title: 'Mails', text, body: emptyState({ title: 'No mail was sent yet.' }) })
  const rows = mails.map(({ at, to, subject, text: body, url }) => [
    row({ title: subject, text: [to, moment(new Date(at))], actions: url !== undefined && buttonLink('Open the link', url) }),
    html`<pre>${body}</pre>`,
  ])
  return card({ title: 'Mails', text, body: rows, actions: await form('/dev', button('Clear'), { act: 'clear' }) })
}

async function drawRequests({ card, emptyState, html, moment, form, button }: PageTools, { requests }: DevState): Promise<Content> {
  const text = 'The last requests, the newest first. A trace has no values of cookies, fields or tokens.'
  if (requests.length === 0) return card({ title: 'Requests', text, body: emptyState({ title: 'No request yet.' }) })
  const body = requests.map(
    ({ at, lines }) =>
      html`<details>
        <summary>${lines[0]} – ${moment(new Date(at))}</summary>
        <pre>${lines.join('\n')}</pre>
      </details>`,
  )
  return card({ title: 'Requests', text, body, actions: await form('/dev', button('Clear'), { act: 'clear' }) })
}

function drawHooks(kernel: Pick<Kernel, 'inspect'>, { card, table, moment }: PageTools, { answers }: DevState): Content {
  const { hooks, events } = kernel.inspect()
  const rows = hooks.map(({ name, plugin }) => {
    const last = answers.get(`${name} ${plugin}`)
    return [name, plugin, last?.answer ?? '–', last ? moment(new Date(last.at)) : '–']
  })
  const columns = ['Hook', 'Plugin', 'Last answer', 'When'].map((title) => ({ title }))
  return [
    card({ title: 'Hooks', text: 'In the order of registration.', body: table({ label: 'Hooks', path: '/dev', columns, rows }) }),
    card({
      title: 'Events',
      body: table({
        label: 'Events',
        path: '/dev',
        columns: ['Event', 'Plugin'].map((title) => ({ title })),
        rows: events.map(({ name, plugin }) => [name, plugin]),
      }),
    }),
  ]
}

function drawRoutes(kernel: Pick<Kernel, 'inspect'>, { card, table }: PageTools): Content {
  const rows = kernel.inspect().routes.map(({ method, path, plugin }) => [method, path, plugin])
  const columns = ['Method', 'Path', 'Plugin'].map((title) => ({ title }))
  return card({ title: 'Routes', body: table({ label: 'Routes', path: '/dev', columns, rows }) })
}

async function drawClock(
  ctx: Context,
  { card, facts, form, button, html, date, duration }: PageTools,
  { offset }: DevState,
): Promise<Content> {
  const steps: readonly (readonly [label: string, seconds: number])[] = [
    ['5 minutes', 300],
    ['1 hour', 3_600],
    ['1 day', 86_400],
    ['31 days', 31 * 86_400],
  ]
  const forms = await Promise.all(
    steps.map(([label, seconds]) => form('/dev', button(`Forward ${label}`), { act: 'clock', seconds: String(seconds) })),
  )
  const reset = await form('/dev', button('Real time', { tone: 'primary' }), { act: 'clock', seconds: '0' })
  return card({
    title: 'Clock',
    text: 'Moves the clock of authkernel, so that you can see sessions and links expire. The browser and the database keep their clocks.',
    body: [
      facts([
        ['Time of the app', date(ctx.now)],
        ['Ahead of the real time', offset === 0 ? 'no' : duration(offset / 1000)],
      ]),
      html`<p>${[...forms, reset]}</p>`,
    ],
  })
}
