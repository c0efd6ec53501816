import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface GitLabProfile {
  [field: string]: unknown
  id?: number
  /** With the scope `openid` and its userinfo endpoint. */
  sub?: string | number
  name?: string
  username?: string
  email?: string
  avatar_url?: string | null
  /** When the address was confirmed. */
  confirmed_at?: string | null
  web_url?: string
}
/** What GitLab needs, and what may be changed. */
export interface GitLabOptions extends OAuthUserConfig<GitLabProfile> {
  /** Self-managed: `https://gitlab.example.com`. */
  baseUrl?: string | undefined
}

/**
 * Sign-in with GitLab. Register: an application with the scope read_user, at https://gitlab.com/-/user_settings/applications.
 * @see https://docs.gitlab.com/api/oauth2/
 */
export default function gitlab(options: GitLabOptions = {}): OAuthConfig<GitLabProfile> {
  const site = options.baseUrl?.replace(/(?<!\/)\/+$/, '') || 'https://gitlab.com'
  return {
    id: 'gitlab',
    name: 'GitLab',
    type: 'oauth',
    authorization: { url: `${site}/oauth/authorize`, params: { scope: 'read_user' } },
    token: `${site}/oauth/token`,
    userinfo: `${site}/api/v4/user`,
    emailVerified: (profile) => (profile.confirmed_at === undefined ? profile['email_verified'] : profile.confirmed_at !== null),
    profile: (profile) => ({
      id: String(profile.sub ?? profile.id),
      name: profile.name ?? profile.username,
      email: profile.email,
      image: profile.avatar_url,
    }),
    style: { brandColor: '#fc6d26', logo },
    options,
  }
}
export { gitlab }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="m23.6004 9.5927-.0337-.0862L20.3.9814a.851.851 0 0 0-.3362-.405.8748.8748 0 0 0-.9997.0539.8748.8748 0 0 0-.29.4399l-2.2055 6.748H7.5375l-2.2057-6.748a.8573.8573 0 0 0-.29-.4412.8748.8748 0 0 0-.9997-.0537.8585.8585 0 0 0-.3362.4049L.4332 9.5015l-.0325.0862a6.0657 6.0657 0 0 0 2.0119 7.0105l.0113.0087.03.0213 4.976 3.7264 2.462 1.8633 1.4995 1.1321a1.0085 1.0085 0 0 0 1.2197 0l1.4995-1.1321 2.4619-1.8633 5.006-3.7489.0125-.01a6.0682 6.0682 0 0 0 2.0094-7.003z"/></svg>'
