/** The section of the account page: apps that the user let in, and the button that takes it back. */
import { type Content, type Context, type Kernel, type PageTools, redirectTo } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { deleteConsent, listConsents } from './consent-store.ts'
import { endClientGrants } from './endings.ts'
import { administeredOrganizations, assertAdministrator, listForOrganization, revokeForOrganization } from './organization-consent.ts'
import { openidScopes, type ResolvedOptions } from './options.ts'

/** Adds the section and the route of its forms. */
export function addAccountSection(kernel: Kernel, options: ResolvedOptions): void {
  kernel.accountSection({
    id: 'connected-apps',
    order: 290,
    async draw(ctx, { say, row, form, button, date }) {
      const user = await findOwnUser(ctx)
      const consents = user?.id ? await listConsents(ctx, user.id) : []
      const forAll = user?.id ? await drawOrganizations(ctx, options, user.id, { say, row, form, button }) : []
      if (consents.length === 0 && forAll.length === 0) return undefined
      const rows = await Promise.all(
        consents.map(async ({ id, clientId, name, scopes, used }) =>
          row({
            id: `client-${id}`,
            title: name,
            text: [
              ...scopes
                .filter((scope) => !openidScopes.includes(scope))
                .map((scope) => say(`authorization-server.scope.${scope}`) || scope),
              say('authorization-server.used', { date: date(used) }),
            ],
            actions: await form('/account/connected-apps', button(say('authorization-server.revoke'), { describedBy: `client-${id}` }), {
              client: clientId,
            }),
          }),
        ),
      )
      return { heading: say('authorization-server.apps'), text: say('authorization-server.appsText'), body: [...rows, ...forAll] }
    },
  })
  kernel.route({ method: 'POST', path: '/account/connected-apps', handler: (ctx) => revokeByForm(ctx, options) })
}

/** What the organizations of an administrator allow their members. */
async function drawOrganizations(
  ctx: Context,
  options: ResolvedOptions,
  userId: string,
  { say, row, form, button }: Pick<PageTools, 'say' | 'row' | 'form' | 'button'>,
): Promise<Content[]> {
  const rows: Content[] = []
  for (const { id: organization, name } of await administeredOrganizations(ctx, options, userId)) {
    for (const consent of await listForOrganization(ctx, organization)) {
      const id = `client-${consent.id}`
      rows.push(
        row({
          id,
          title: consent.name,
          text: [
            say('authorization-server.forAll', { organization: name }),
            ...consent.scopes
              .filter((scope) => !openidScopes.includes(scope))
              .map((scope) => say(`authorization-server.scope.${scope}`) || scope),
          ],
          actions: await form('/account/connected-apps', button(say('authorization-server.revoke'), { describedBy: id }), {
            client: consent.clientId,
            organization,
          }),
        }),
      )
    }
  }
  return rows
}

async function revokeByForm(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const user = await findOwnUser(ctx)
  if (!user?.id) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { client, organization } = await ctx.body()
  if (typeof client === 'string' && typeof organization === 'string') {
    await assertAdministrator(ctx, options, user.id, organization)
    await revokeForOrganization(ctx, options, { organizationId: organization, clientId: client, by: user.id })
  } else if (typeof client === 'string') await revokeClient(ctx, options, user.id, client)
  return redirectTo(`${ctx.base}/account#connected-apps`)
}

/** Ends what a client has of a user: consent, grants, tokens. False: it had nothing. */
export async function revokeClient(
  ctx: Context | Parameters<typeof deleteConsent>[0],
  options: ResolvedOptions,
  userId: string,
  clientId: string,
): Promise<boolean> {
  // The consent first: a request under way asks again.
  const forgotten = await deleteConsent(ctx, userId, clientId)
  const ended = await endClientGrants(ctx, options, userId, clientId)
  return forgotten || ended > 0
}
