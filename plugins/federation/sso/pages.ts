/** The page that begins a sign-in with a connection: by a direct link, or for users who tried another method. */
import { type Content, type Context, HttpError, type Kernel, type Row } from 'authkernel/kernel'
import { iconOf } from './icons.ts'
import { domainOfAddress } from './organizations.ts'
import { findById, providerIdOf, publicKeyOf } from './provider.ts'
import { findConnectionsOf, listEnabled } from './routing.ts'
import type { ConnectionRow } from './tables.ts'

/** `GET /sso/start?connection=<id>` or `?organization=<id>`, and the public keys of a connection. */
export function addPages(kernel: Kernel): void {
  kernel.page(
    'ssoStart',
    async (ctx, { say, html, form, submit, link }, { connection, domain, organization, required }) => {
      const rows = await findConnections(ctx, { connection, domain, organization })
      if (rows.length === 0) throw new HttpError(404, 'There is no such connection.')
      const callbackUrl = await ctx.callbackUrl()
      const buttons: Content[] = []
      for (const row of rows)
        buttons.push(
          await form(
            `/signin/${providerIdOf(row)}`,
            submit(html`<img class="icon" src="${iconOf(row)}" alt="" />${say('sso.continue', { name: row.name })}`),
            { callbackUrl },
          ),
        )
      return {
        title: say('sso.title'),
        lead: say(required === '1' ? 'sso.required' : 'sso.lead'),
        body: [...buttons, link(say('sso.other'), '/signin')],
        // The form ends at the identity provider, whose address its discovery document names.
        forms: ['https:'],
      }
    },
    { path: '/sso/start' },
  )
  kernel.route({
    method: 'GET',
    path: '/sso/keys/:connection',
    public: { maxAge: 300 },
    async handler(ctx) {
      const row = await findById(ctx, ctx.params['connection'] ?? '')
      const key = row && publicKeyOf(row)
      if (!key) throw new HttpError(404, 'There is no such connection.')
      return Response.json({ keys: [key] })
    },
  })
}

/** Connections that are switched on: one by its id, those of a domain, or those of an organization. */
async function findConnections(
  ctx: Context,
  { connection, domain, organization }: Readonly<Record<'connection' | 'domain' | 'organization', string | undefined>>,
): Promise<readonly Row<ConnectionRow>[]> {
  if (connection !== undefined) {
    const row = await findById(ctx, connection)
    return row?.enabled ? [row] : []
  }
  if (domain !== undefined) return findConnectionsOf(ctx, domainOfAddress(`user@${domain}`))
  return organization !== undefined && /^[\w-]{1,64}$/.test(organization) ? listEnabled(ctx, organization) : []
}
