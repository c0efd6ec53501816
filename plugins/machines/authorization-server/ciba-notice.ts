/** Who learns of a backchannel request: the user that there is a question, and a client with ping that there is an answer. */
import { AuthError, boundedFetch, type Context, type Kernel, type User } from 'authkernel/kernel'
import type { Client } from './clients.ts'
import type { CibaOptions } from './options.ts'
import type { OAuthBackchannelRecord } from './tables-polled.ts'

const deadline = 5_000
const maxAnswer = 65_536

/** Declares the mail. */
export function declareNotice(kernel: Kernel): void {
  kernel.mailTemplate('authorization-server.approval', {
    subject: 'authorization-server.approval.subject',
    lines: ['authorization-server.approval.what', 'authorization-server.approval.do'],
    button: { text: 'authorization-server.approval.button', url: 'url' },
  })
}

/** The address of the page with the question. Its id names the request and opens nothing: only the user sees it, signed in. */
export function approvalUrl(ctx: Context, { id }: Pick<OAuthBackchannelRecord, 'id'>): string {
  return `${ctx.base}/oauth2/approve?request=${id}`
}

/** By the host's own way, else by mail. The response to the client does not wait for it. */
export function noteRequest(ctx: Context, { notify }: CibaOptions, user: User & { id: string }, row: OAuthBackchannelRecord): void {
  const url = approvalUrl(ctx, row)
  const log = (error: unknown): void => ctx.logger.error(error as Error)
  if (notify) {
    Promise.resolve()
      .then(() => notify({ user, client: row.clientId, binding: row.binding, url, ctx }))
      .catch(log)
    return
  }
  if (user.email && ctx.app.services.mailTransport)
    ctx.service('mail').send(ctx, user.email, 'authorization-server.approval', { client: row.clientName, url }).catch(log)
}

/** Section 10.2. The host registered the address of the client; nothing waits for its answer. */
export function pingClient(ctx: Context, client: Client | undefined, { ping }: Pick<OAuthBackchannelRecord, 'ping'>): void {
  const uri = client?.metadata.backchannel_client_notification_endpoint
  if (uri === undefined || ping === null) return
  boundedFetch({ fetch: ctx.runtime.fetch, deadline, limit: maxAnswer })(uri, {
    method: 'POST',
    headers: { authorization: `Bearer ${ping.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ auth_req_id: ping.id }),
  })
    .then(({ status }) => {
      if (status >= 300) throw new AuthError(`Plugin "authorization-server": ${new URL(uri).host} answered a ping with ${status}.`)
    })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}
