/** Front-channel logout as provider (OpenID Connect Front-Channel Logout 1.0): a page of this site opens an address of each app in a frame, where the app ends its session. */
import { type Context, type Kernel, withParams } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { findClient } from './clients.ts'
import { nameOfSession } from './codes.ts'
import type { ResolvedOptions } from './options.ts'
import { sidOf } from './tokens.ts'

/** Seconds until the browser goes on: frames that did not load by then are left behind. */
const seconds = 3
const maxFrames = 20

/** Adds the page. It has no separate route: it is the response to a sign-out. */
export function addSignedOutPage(kernel: Kernel): void {
  kernel.page('clientSignedOut', (_ctx, { html, say, link }, { frames = '[]', to = '' }) => {
    const addresses = JSON.parse(frames) as string[]
    return {
      title: say('authorization-server.signedOut'),
      body: [
        html`${addresses.map((address) => html`<iframe src="${address}" title="" width="0" height="0" hidden></iframe>`)}`,
        link(say('authorization-server.continue'), to),
      ],
      sources: { frame: [...new Set(addresses.map((address) => new URL(address).origin))] },
    }
  })
}

/** Addresses of the apps that the session of this browser signed in to. Read them before the session ends. */
export async function listFrames(ctx: Context, options: ResolvedOptions): Promise<string[]> {
  const session = await nameOfSession(ctx)
  if (session === '') return []
  const frames = new Set<string>()
  for (const grant of await listRows(ctx.records('oauthGrant'), { where: { session } })) {
    // No client of a document: reading it would call its server.
    if (!grant.scopes.includes('openid') || grant.clientId.startsWith('https://')) continue
    const uri = (await findClient(ctx, options, grant.clientId))?.metadata.frontchannel_logout_uri
    if (uri !== undefined && frames.size < maxFrames) frames.add(withParams(uri, { iss: grant.issuer, sid: await sidOf(grant) }))
  }
  return [...frames]
}

/** The page with the frames, which leads on by its header `Refresh`. */
export async function showFrames(ctx: Context, frames: readonly string[], to: string): Promise<Response> {
  const page = await ctx.render('clientSignedOut', { frames: JSON.stringify(frames), to })
  const headers = new Headers(page.headers)
  headers.set('Refresh', `${seconds}; url=${to}`)
  return new Response(page.body, { status: page.status, headers })
}
