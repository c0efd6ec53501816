/** The console below `/admin`, by option. Each page and act asks for rights, as the API does. It needs no JavaScript. */
import { type Context, type Kernel, type Navigation, type PageTools, type PageView } from 'authkernel/kernel'
import type { AdminActs, AdminRights } from './methods.ts'
import type { AdminAct } from './options.ts'
import { drawAct, postAct, postNew } from './pages-acts.ts'
import { drawAgents, postAgent } from './pages-agents.ts'
import { addAuditFile, drawAudit } from './pages-audit.ts'
import { drawClientForm, postClientForm } from './pages-client-form.ts'
import { drawClient, drawClients, drawSecret, postClient } from './pages-clients.ts'
import { drawConfiguration } from './pages-configuration.ts'
import { drawOverview, postApproval } from './pages-overview.ts'
import { isRefusal, type PageRequest, type Params } from './pages-frame.ts'
import { drawKeys, drawOrganizations, postKey } from './pages-things.ts'
import { drawUser } from './pages-user.ts'
import { drawNew, drawUsers } from './pages-users.ts'

type Draw = (request: PageRequest) => Promise<PageView | Response> | PageView

export function addPages(kernel: Kernel, acts: AdminActs): void {
  const page = (name: string, path: `/${string}`, draw: Draw, hasRoute = true): void =>
    kernel.page(name, (ctx, tools, params) => drawOrRefuse(acts, ctx, tools, params, path, draw), hasRoute ? { path } : {})
  page('adminOverview', '/admin/overview', drawOverview)
  page('adminUsers', '/admin', drawUsers)
  page('adminNewUser', '/admin/new', drawNew)
  page('adminUser', '/admin/user', drawUser)
  page('adminAct', '/admin/act', drawAct)
  page('adminOrganizations', '/admin/organizations', drawOrganizations)
  page('adminKeys', '/admin/keys', drawKeys)
  page('adminClients', '/admin/clients', drawClients)
  page('adminClient', '/admin/client', drawClient)
  page('adminNewClient', '/admin/clients/new', drawClientForm)
  page('adminEditClient', '/admin/clients/edit', drawClientForm)
  // Answers to forms, without addresses of their own.
  page('adminClientForm', '/admin/clients', drawClientForm, false)
  page('adminClientSecret', '/admin/clients', drawSecret, false)
  page('adminAgents', '/admin/agents', drawAgents)
  page('adminAudit', '/admin/audit', drawAudit)
  page('adminConfiguration', '/admin/configuration', drawConfiguration)
  kernel.route({ method: 'POST', path: '/admin/user', handler: (ctx) => postAct(acts, ctx) })
  kernel.route({ method: 'POST', path: '/admin/new', handler: (ctx) => postNew(acts, ctx) })
  kernel.route({ method: 'POST', path: '/admin/approval', handler: (ctx) => postApproval(acts, ctx) })
  kernel.route({ method: 'POST', path: '/admin/key', handler: (ctx) => postKey(acts, ctx) })
  kernel.route({ method: 'POST', path: '/admin/client', handler: (ctx) => postClient(acts, ctx) })
  kernel.route({ method: 'POST', path: '/admin/clients/save', handler: (ctx) => postClientForm(acts, ctx) })
  kernel.route({ method: 'POST', path: '/admin/agent', handler: (ctx) => postAgent(acts, ctx) })
  addAuditFile(kernel, acts)
}

/** A rejection is a page with its status, or the sign-in page when signed out. */
async function drawOrRefuse(
  acts: AdminActs,
  ctx: Context,
  tools: PageTools,
  params: Params,
  path: string,
  draw: Draw,
): Promise<PageView | Response> {
  const { say, alert } = tools
  try {
    const rights = await acts.getRights(ctx.request)
    const may = (act: AdminAct): boolean => mayAct(rights, act)
    const view = await draw({ acts, ctx, tools, params, rights, may })
    return view instanceof Response ? view : { ...view, layout: 'wide', navigation: navigationOf(tools, ctx, may, path) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (!(await ctx.currentSession())) return ctx.page('signIn')
    return { title: say('admin.title'), body: alert('AdminRefused'), status: error.status }
  }
}

function mayAct({ role, acts }: AdminRights, act: AdminAct): boolean {
  return (role === null && acts.length === 0) || acts.includes(act)
}

function navigationOf({ say }: PageTools, ctx: Context, may: PageRequest['may'], path: string): Navigation {
  const has = (plugin: string): boolean => ctx.app.plugins.includes(plugin)
  const isUser = ['/admin/user', '/admin/new', '/admin/act'].includes(path)
  const isClient = path.startsWith('/admin/client')
  const links: readonly (readonly [key: string, to: string, shown: boolean])[] = [
    ['admin.overview', '/admin/overview', may('overview')],
    ['admin.title', '/admin', may('list')],
    ['admin.organizations', '/admin/organizations', may('organizations') && has('organizations')],
    ['admin.keys', '/admin/keys', may('keys') && has('api-keys')],
    ['admin.clients', '/admin/clients', may('clients') && has('authorization-server')],
    ['admin.agents', '/admin/agents', may('agents') && has('agents')],
    ['admin.audit', '/admin/audit', may('audit') && ctx.app.services.auditLog !== undefined],
    ['admin.configuration', '/admin/configuration', may('configuration')],
  ]
  return {
    label: say('admin.console'),
    items: links
      .filter(([, , shown]) => shown)
      .map(([key, to]) => ({
        label: say(key),
        to,
        current: to === path || (isUser && to === '/admin') || (isClient && to === '/admin/clients'),
      })),
  }
}
