import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface SlackProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  picture?: string
  'https://slack.com/user_id'?: string
  'https://slack.com/team_id'?: string
  'https://slack.com/team_name'?: string
}

/**
 * Sign-in with Slack. Register: an app with "Sign in with Slack", at https://api.slack.com/apps.
 * - No PKCE; redirect URLs must be https.
 * @see https://api.slack.com/authentication/sign-in-with-slack
 */
export default function slack(options: OIDCUserConfig<SlackProfile> = {}): OIDCConfig<SlackProfile> {
  return {
    id: 'slack',
    name: 'Slack',
    type: 'oidc',
    issuer: 'https://slack.com',
    checks: ['nonce'],
    style: { brandColor: '#611f69' },
    options,
  }
}
export { slack }
