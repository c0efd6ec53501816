/** What a client checks that has a `baseURL`, or runs outside of a page: in server rendering and in tests. */

/**
 * Whether cookies go along: to another origin than that of the page only where the server permits it. Ours are SameSite=Lax: that origin has to be one
 * of the same site. Throws TypeError without a `baseURL` outside of a page, and for one that is not an origin.
 */
export function credentialsFor(baseURL: string | undefined): RequestCredentials {
  if (baseURL === undefined)
    throw new TypeError(
      'authkernel/client: there is no page here. Give `baseURL`, the origin of the server, to createClient or createAuthClient.',
    )
  if (!URL.canParse(baseURL) || new URL(baseURL).origin !== baseURL)
    throw new TypeError(
      `authkernel/client: \`baseURL\` must be an origin like "https://app.example", not ${JSON.stringify(baseURL)}. A path is \`basePath\`.`,
    )
  return globalThis.location?.origin === baseURL ? 'same-origin' : 'include'
}
