/** Requests of a client that has a `baseURL` or its own `fetch`, or runs outside of a page: in server rendering and in tests. */

/** Where a server is, and how it is reached. */
export interface Server {
  /** Path of the routes; default `/auth`. */
  basePath?: string | undefined
  /**
   * Origin of the server: `https://app.example`. Default: that of the page. Code that runs outside of a page, such as server rendering and tests, needs it.
   * Requests reject with TypeError for a text that is not an origin.
   */
  baseURL?: string | undefined
  /**
   * Sends the requests; default: the global `fetch`. Outside of a page it has to bring the cookies along. It is called with a URL as text and its options.
   */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** Sends a request. Throws TypeError for a `baseURL` that is not an origin, and for a path that is sent from nowhere. */
export async function sendElsewhere(url: string, request: RequestInit, { baseURL, fetch: send = fetch }: Server): Promise<Response> {
  if (baseURL !== undefined) return send(url, { ...request, credentials: credentialsFor(baseURL) })
  try {
    return await send(url, request)
  } catch (error) {
    if (globalThis.location) throw error
    throw new TypeError(
      'authkernel/client: there is no page here. Give `baseURL`, the origin of the server, to createClient or createAuthClient.',
      { cause: error },
    )
  }
}

/** Cookies go along to another origin than that of the page, where the server permits it. Ours are SameSite=Lax: that origin has to be of the same site. */
function credentialsFor(baseURL: string): RequestCredentials {
  if (!URL.canParse(baseURL) || new URL(baseURL).origin !== baseURL)
    throw new TypeError(
      `authkernel/client: \`baseURL\` must be an origin like "https://app.example", not ${JSON.stringify(baseURL)}. A path is \`basePath\`.`,
    )
  return globalThis.location?.origin === baseURL ? 'same-origin' : 'include'
}
