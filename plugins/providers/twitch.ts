import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface TwitchProfile extends Profile {
  sub: string
  preferred_username?: string
  email?: string
  picture?: string
}

/**
 * Sign-in with Twitch. Register: https://dev.twitch.tv/console/apps.
 * - Claims beside `sub` come only when the `claims` parameter asks for them.
 * @see https://dev.twitch.tv/docs/authentication/getting-tokens-oidc
 */
export default function twitch(options: OIDCUserConfig<TwitchProfile> = {}): OIDCConfig<TwitchProfile> {
  return {
    id: 'twitch',
    name: 'Twitch',
    type: 'oidc',
    issuer: 'https://id.twitch.tv/oauth2',
    authorization: {
      params: { scope: 'openid user:read:email', claims: { id_token: { email: null, picture: null, preferred_username: null } } },
    },
    token: { conform: conformToken },
    client: { token_endpoint_auth_method: 'client_secret_post' },
    style: { brandColor: '#65459b', logo },
    options,
  }
}
export { twitch }

/** Twitch sends `scope` as a list and some errors without the `error` of RFC 6749 section 5.2. */
async function conformToken(response: Response): Promise<Response | undefined> {
  const { scope, ...answer } = (await response.clone().json()) as Record<string, unknown>
  if (response.ok) {
    if (typeof scope === 'string') return undefined
    return Response.json(Array.isArray(scope) ? { ...answer, scope: scope.join(' ') } : answer)
  }
  if (typeof answer['error'] === 'string') return undefined
  return Response.json({ error: 'invalid_request', error_description: answer['message'] }, { status: response.status })
}

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M11.571 4.714h1.715v5.143H11.57zm4.715 0H18v5.143h-1.714zM6 0L1.714 4.286v15.428h5.143V24l4.286-4.286h3.428L22.286 12V0zm14.571 11.143l-3.428 3.428h-3.429l-3 3v-3H6.857V1.714h13.714Z"/></svg>'
