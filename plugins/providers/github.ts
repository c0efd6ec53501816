import type { OAuthConfig, OAuthUserConfig, UserinfoRequestContext } from 'authkernel/kernel'

/** Answer of `/user`: the part that is useful here. */
export interface GitHubProfile {
  [field: string]: unknown
  id?: number
  login?: string
  name?: string | null
  /** The public address, else the primary one of `/user/emails`. */
  email?: string | null
  /** What `/user/emails` says of this address; absent where it says nothing. */
  email_verified?: boolean
  avatar_url?: string
  html_url?: string
  bio?: string | null
  company?: string | null
  location?: string | null
}
/** What GitHub needs, and what may be changed. */
export interface GitHubOptions extends OAuthUserConfig<GitHubProfile> {
  /** GitHub Enterprise Server: `{ baseUrl: 'https://github.example.com' }`. */
  enterprise?: { baseUrl?: string | undefined } | undefined
}

/**
 * Sign-in with GitHub. Register: an OAuth app, at https://github.com/settings/developers.
 * - A second request, to `/user/emails`, says whether the address is verified, and which one it is where the user hides it.
 * - GitHub takes one callback URL per OAuth app: register one app per environment.
 * @see https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
export default function github(options: GitHubOptions = {}): OAuthConfig<GitHubProfile> {
  const site = options.enterprise?.baseUrl?.replace(/(?<!\/)\/+$/, '') || 'https://github.com'
  const api = site === 'https://github.com' ? 'https://api.github.com' : `${site}/api/v3`
  return {
    id: 'github',
    name: 'GitHub',
    type: 'oauth',
    // An Enterprise Server is run by another company.
    trustEmail: site === 'https://github.com',
    issuer: `${site}/login/oauth`,
    authorization: { url: `${site}/login/oauth/authorize`, params: { scope: 'read:user user:email' } },
    token: `${site}/login/oauth/access_token`,
    userinfo: { url: `${api}/user`, request: (context) => withEmail(context, api) },
    profile: (profile) => ({
      id: String(profile.id),
      name: profile.name ?? profile.login,
      email: profile.email,
      image: profile.avatar_url,
    }),
    style: { brandColor: '#24292f', logo },
    options,
  }
}
export { github }

async function withEmail({ tokens, fetch }: UserinfoRequestContext, api: string): Promise<GitHubProfile> {
  // GitHub refuses requests without a User-Agent.
  const headers = { Authorization: `Bearer ${tokens.access_token}`, 'User-Agent': 'authkernel' }
  const response = await fetch(`${api}/user`, { headers })
  if (!response.ok) throw new Error(`Provider "github": ${api}/user answered ${response.status}`)
  const profile = (await response.json()) as GitHubProfile
  // Of an Enterprise Server's addresses nothing is believed.
  if (profile.email && api !== 'https://api.github.com') return profile
  const answer = await fetch(`${api}/user/emails`, { headers })
  const said: unknown = answer.ok ? await answer.json() : []
  const emails = Array.isArray(said) ? (said as { email: string; primary: boolean; verified: boolean }[]) : []
  const shown = profile.email?.toLowerCase()
  const address = shown ? emails.find(({ email }) => email.toLowerCase() === shown) : (emails.find(({ primary }) => primary) ?? emails[0])
  return address ? { ...profile, email: profile.email || address.email, email_verified: address.verified } : profile
}

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M12 .297c-6.63 0-12 5.373-12 12 0 5.303 3.438 9.8 8.205 11.385.6.113.82-.258.82-.577 0-.285-.01-1.04-.015-2.04-3.338.724-4.042-1.61-4.042-1.61C4.422 18.07 3.633 17.7 3.633 17.7c-1.087-.744.084-.729.084-.729 1.205.084 1.838 1.236 1.838 1.236 1.07 1.835 2.809 1.305 3.495.998.108-.776.417-1.305.76-1.605-2.665-.3-5.466-1.332-5.466-5.93 0-1.31.465-2.38 1.235-3.22-.135-.303-.54-1.523.105-3.176 0 0 1.005-.322 3.3 1.23.96-.267 1.98-.399 3-.405 1.02.006 2.04.138 3 .405 2.28-1.552 3.285-1.23 3.285-1.23.645 1.653.24 2.873.12 3.176.765.84 1.23 1.91 1.23 3.22 0 4.61-2.805 5.625-5.475 5.92.42.36.81 1.096.81 2.22 0 1.606-.015 2.896-.015 3.286 0 .315.21.69.825.57C20.565 22.092 24 17.592 24 12.297c0-6.627-5.373-12-12-12"/></svg>'
