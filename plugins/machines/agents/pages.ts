/** The section of the account page: owners make, watch and stop their agents, and decide on what waits for them. */
import { type Content, type Context, HttpError, type Kernel, type PageTools, type PageView, redirectTo } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { decideApproval, listApprovals, type WaitingApproval } from './approvals.ts'
import { type Agent, createAgent, deleteAgent, listAgents, renewAgent, rotateAgent, startAgent, stopAgent } from './manage.ts'
import { messages } from './messages.ts'
import type { ResolvedOptions } from './options.ts'
import { leadToProof } from './owner.ts'

/** Acts that give an agent more: they need a fresh proof. */
const demanding: readonly string[] = ['create', 'rotate', 'renew', 'start', 'approve']

/** Adds the section, what its forms post to, and the page that shows a credential once. */
export function addAccountSection(kernel: Kernel, options: ResolvedOptions): void {
  kernel.messages(messages)
  kernel.accountSection({
    id: 'agents',
    order: 285,
    async draw(ctx, tools) {
      const user = await findOwnUser(ctx)
      if (!user?.id) return undefined
      const { say, alert } = tools
      const [agents, waiting] = [await listAgents(ctx, user.id), await listApprovals(ctx, user.id)]
      return {
        heading: say('agents.title'),
        text: say('agents.text'),
        body: [
          alert(ctx.url.searchParams.get('agents') ?? undefined),
          ...(await Promise.all(waiting.map((one) => drawApproval(tools, one)))),
          ...(await Promise.all(agents.map((agent) => drawAgent(tools, agent)))),
          await tools.form('/account/agents', drawNewAgent(tools, options), { action: 'create' }),
        ],
      }
    },
  })
  kernel.page('agentMade', drawCredential)
  kernel.route({ method: 'POST', path: '/account/agents', handler: (ctx) => answerForm(ctx, options) })
}

async function drawApproval({ row, say, form, button }: PageTools, { id, agent, action, scopes }: WaitingApproval): Promise<Content> {
  const act = (name: 'approve' | 'deny', tone: 'primary' | 'plain') =>
    form('/account/agents', button(say(`agents.${name}`), { tone, describedBy: `approval-${id}` }), { action: name, id })
  return row({
    id: `approval-${id}`,
    title: say('agents.asks', { agent }),
    text: [action, nameScopes(say, scopes)],
    actions: [await act('approve', 'primary'), await act('deny', 'plain')],
  })
}

async function drawAgent({ row, say, form, button, date, tag }: PageTools, agent: Agent): Promise<Content> {
  const { id, name, state, left, requests, until, lastUsed, tail, scopes } = agent
  const isStopped = state.startsWith('stopped')
  const act = (action: string, tone: 'plain' | 'danger' = 'plain') =>
    form('/account/agents', button(say(`agents.${action}`), { tone, describedBy: `agent-${id}` }), { action, id })
  return row({
    id: `agent-${id}`,
    title: [name, ' ', state !== 'running' && tag(say(isStopped ? 'agents.stopped' : 'agents.spent'), 'warn')],
    text: [
      `…${tail}`,
      nameScopes(say, scopes),
      say('agents.budget', { left: String(left), requests: String(requests), date: date(until) }),
      lastUsed ? say('agents.used', { date: date(lastUsed) }) : say('agents.unused'),
    ],
    actions: [
      !isStopped && (await act('stop', 'danger')),
      isStopped && state !== 'stopped by admin' && (await act('start')),
      await act('renew'),
      await act('rotate'),
      await act('delete', 'danger'),
    ],
  })
}

function drawNewAgent({ html, say, field, submit }: PageTools, { scopes }: ResolvedOptions): Content[] {
  return [
    field('name', { label: 'agents.name', type: 'text', required: true, maxlength: 100, autocomplete: 'off' }, 'agents'),
    ...scopes.map(
      (scope) =>
        html`<label class="check"><input type="checkbox" name="scope" value="${scope}" /> <span>${nameOfScope(say, scope)}</span></label>`,
    ),
    submit(say('agents.create'), { quiet: true }),
  ]
}

function nameOfScope(say: PageTools['say'], scope: string): Content {
  return say(`agents.scope.${scope}`) || scope
}

function nameScopes(say: PageTools['say'], scopes: readonly string[]): Content[] {
  return scopes.map((scope, at) => [at > 0 && ', ', nameOfScope(say, scope)])
}

async function answerForm(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const user = await findOwnUser(ctx)
  if (!user?.id) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const form = await ctx.form()
  const [action, id] = [form.get('action') ?? '', form.get('id') ?? '']
  const away = demanding.includes(action) ? await leadToProof(ctx, options) : undefined
  if (away) return away
  try {
    const made = await doAct(ctx, options, { userId: user.id, action, id, form })
    return made ? ctx.render('agentMade', made) : redirectTo(`${ctx.base}/account#agents`)
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error
    return redirectTo(`${ctx.base}/account?agents=${error.status === 409 ? 'TooManyAgents' : 'AgentRefused'}#agents`)
  }
}

/** The credential to show, where the act made one. */
async function doAct(
  ctx: Context,
  options: ResolvedOptions,
  { userId, action, id, form }: { userId: string; action: string; id: string; form: URLSearchParams },
): Promise<{ credential: string; name: string } | undefined> {
  if (action === 'create') return createAgent(ctx, options, userId, { name: form.get('name') ?? '', scopes: form.getAll('scope') })
  if (action === 'rotate') return (await rotateAgent(ctx, options, userId, id)) ?? undefined
  if (action === 'renew') await renewAgent(ctx, options, userId, id)
  if (action === 'start') await startAgent(ctx, id, { by: 'owner', ownerId: userId })
  if (action === 'stop') await stopAgent(ctx, id, { by: 'owner', ownerId: userId })
  if (action === 'delete') await deleteAgent(ctx, userId, id)
  if (action === 'approve') await decideApproval(ctx, userId, id, 'approved')
  if (action === 'deny') await decideApproval(ctx, userId, id, 'denied')
  return undefined
}

// The answer to a form, which no history keeps: the credential is shown once.
async function drawCredential(
  _ctx: Context,
  { copyable, say, link }: PageTools,
  { credential = '', name = '' }: Readonly<Record<string, string | undefined>>,
): Promise<PageView> {
  return {
    title: say('agents.new', { name }),
    lead: say('agents.once'),
    body: [copyable(credential), link(say('agents.back'), '/account')],
  }
}
