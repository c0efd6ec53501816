import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface BitbucketProfile {
  [field: string]: unknown
  account_id?: string
  uuid?: string
  username?: string
  display_name?: string
  links?: Record<string, { href?: string }>
}

/**
 * Sign-in with Bitbucket. Register: an OAuth consumer with the permission "Account: Read", in the settings of a workspace.
 * - No address in the profile; `/2.0/user/emails` has them, with the scope `email`.
 * @see https://support.atlassian.com/bitbucket-cloud/docs/use-oauth-on-bitbucket-cloud/
 */
export default function bitbucket(options: OAuthUserConfig<BitbucketProfile> = {}): OAuthConfig<BitbucketProfile> {
  return {
    id: 'bitbucket',
    name: 'Bitbucket',
    type: 'oauth',
    authorization: { url: 'https://bitbucket.org/site/oauth2/authorize', params: { scope: 'account' } },
    token: 'https://bitbucket.org/site/oauth2/access_token',
    userinfo: 'https://api.bitbucket.org/2.0/user',
    profile: (profile) => ({
      id: profile.account_id,
      name: profile.display_name ?? profile.username,
      image: profile.links?.['avatar']?.href,
    }),
    style: { brandColor: '#205081', logo },
    options,
  }
}
export { bitbucket }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M.778 1.213a.768.768 0 00-.768.892l3.263 19.81c.084.5.515.868 1.022.873H19.95a.772.772 0 00.77-.646l3.27-20.03a.768.768 0 00-.768-.891zM14.52 15.53H9.522L8.17 8.466h7.561z"/></svg>'
