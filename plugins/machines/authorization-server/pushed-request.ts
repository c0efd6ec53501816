/** Pushed authorization requests (RFC 9126): the client sends its request to this server first, and the browser only brings its name. */
import { type Context, json, toBase64Url } from 'authkernel/kernel'
import { nonceHeaders, readProofKey } from '../bearer/dpop.ts'
import { authenticateClient, readForm } from './client-auth.ts'
import { OAuthRefusal } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { readRequest } from './request.ts'
import { openRequestObject } from './request-object.ts'

const prefix = 'urn:ietf:params:oauth:request_uri:'
/** A user may have to sign in before the request is answered. */
const seconds = 600

/** `POST /oauth2/par`. */
export async function pushRequest(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const form = await readForm(ctx)
  const client = await authenticateClient(ctx, options, form)
  if (form.has('request_uri')) throw new OAuthRefusal('invalid_request', '`request_uri` cannot be pushed.')
  const sent = new URLSearchParams(
    [...form].filter(([name]) => !['client_secret', 'client_assertion', 'client_assertion_type'].includes(name)),
  )
  const params = await bindToProof(ctx, options, await openRequestObject(ctx, client, sent))
  const request = readRequest(ctx, options, client, params)
  if ('error' in request) throw new OAuthRefusal(request.error, request.description)
  const name = toBase64Url(ctx.runtime.random(32))
  await ctx.records('oauthRequest').create({
    id: await ctx.digest('authorization-server.request', name),
    clientId: client.id,
    params: [...params],
    expires: new Date(ctx.now.getTime() + seconds * 1000),
  })
  return json({ request_uri: prefix + name, expires_in: seconds }, 201, { 'Cache-Control': 'no-store' })
}

/** A proof at this endpoint binds the code to its key, as `dpop_jkt` does (RFC 9449 section 10.1). Both name the same key, or the request is rejected. */
async function bindToProof(ctx: Context, options: ResolvedOptions, params: URLSearchParams): Promise<URLSearchParams> {
  const proof = await readProofKey(ctx, options)
  if ('error' in proof) throw new OAuthRefusal(proof.error, proof.description, 400, await nonceHeaders(ctx, options))
  if (proof.jkt === null) return params
  const named = params.get('dpop_jkt')
  if (named !== null && named !== proof.jkt)
    throw new OAuthRefusal('invalid_dpop_proof', 'The DPoP proof is not of the key that `dpop_jkt` names.')
  const bound = new URLSearchParams(params)
  bound.set('dpop_jkt', proof.jkt)
  return bound
}

/** The parameters of a pushed request and the id of its row; undefined: unknown, used, too old, or of another client. */
export async function readPushed(
  ctx: Context,
  clientId: string,
  uri: string,
): Promise<{ id: string; params: URLSearchParams } | undefined> {
  if (!uri.startsWith(prefix) || uri.length !== prefix.length + 43) return undefined
  for (const id of await ctx.digests('authorization-server.request', uri.slice(prefix.length))) {
    const row = await ctx.records('oauthRequest').get(id)
    if (row) return row.clientId === clientId ? { id, params: new URLSearchParams(row.params) } : undefined
  }
  return undefined
}
