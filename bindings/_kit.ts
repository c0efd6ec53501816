/**
 * Leaving a SvelteKit action or `load`: by its own throw. SvelteKit knows redirects by their class, and an app whose bundle holds a SvelteKit of its own
 * knows another class than we do; then `handle` says what was meant.
 */

/** The part of an event that is used here. */
export interface KitRequest {
  request: Request
}

const meant = new WeakMap<KitRequest, Response>()

/** Throws SvelteKit's redirect or error for a response. */
export async function leave(event: KitRequest, response: Response): Promise<never> {
  meant.set(event, response)
  const { redirect, error } = await import('@sveltejs/kit')
  const location = response.headers.get('location')
  return location === null ? error(response.status, response.status === 403 ? 'Forbidden' : 'Unauthorized') : redirect(302, location)
}

/** `paths.base` of the app; empty where nobody resolves SvelteKit's own modules. */
export async function pathsBase(): Promise<string> {
  const { base } = await import('$app/paths').catch(() => ({ base: '' }))
  return base
}

/** The response of SvelteKit, or what `leave` meant where SvelteKit did not understand its throw. */
export function left(event: KitRequest, response: Response): Response {
  const wanted = meant.get(event)
  if (!wanted) return response
  if (response.status !== 500) return withChallenge(response, wanted)
  const location = wanted.headers.get('location')
  const headers = new Headers({ 'cache-control': 'private, no-store' })
  for (const cookie of response.headers.getSetCookie()) headers.append('set-cookie', cookie)
  // A form with `use:enhance`, and the data of a page, want JSON (documented as `ActionResult`).
  if (event.request.headers.has('x-sveltekit-action')) {
    return Response.json(location === null ? { type: 'error', status: wanted.status } : { type: 'redirect', status: 302, location }, {
      headers,
    })
  }
  if (location === null)
    return withChallenge(new Response(wanted.status === 403 ? 'Forbidden' : 'Unauthorized', { status: wanted.status, headers }), wanted)
  if (new URL(event.request.url).pathname.endsWith('__data.json')) return Response.json({ type: 'redirect', location }, { headers })
  headers.set('location', location)
  return new Response(null, { status: 302, headers })
}

/** SvelteKit's errors have no headers: what tells an app why its token was refused goes out with the error's page. */
function withChallenge(response: Response, { status, headers }: Response): Response {
  if (response.status !== status || !headers.has('www-authenticate')) return response
  const copy = new Response(response.body, response)
  for (const name of ['www-authenticate', 'dpop-nonce', 'access-control-expose-headers']) {
    const value = headers.get(name)
    if (value !== null) copy.headers.set(name, value)
  }
  return copy
}
