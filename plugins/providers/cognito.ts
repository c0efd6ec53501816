import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface CognitoProfile extends Profile {
  sub: string
  name?: string
  email?: string
  email_verified?: boolean
  picture?: string
  'cognito:username'?: string
  'cognito:groups'?: string[]
}
/** What Cognito needs, and what may be changed. */
export type CognitoOptions = OIDCUserConfig<CognitoProfile> &
  (
    | {
        /** `https://cognito-idp.<region>.amazonaws.com/<pool id>`. */
        issuer?: string | undefined
        region?: undefined
        userPoolId?: undefined
      }
    | {
        /** `eu-west-1_Ab12Cd34E`. */
        userPoolId: string
        /** Default: the part of the pool id before `_`. */
        region?: string | undefined
        issuer?: undefined
      }
  )

/**
 * Sign-in with Cognito. Register: an app client with a secret, in the user pool at https://console.aws.amazon.com/cognito.
 * - The user pool needs a domain for its hosted pages.
 * @see https://docs.aws.amazon.com/cognito/latest/developerguide/federation-endpoints.html
 */
export default function cognito(options: CognitoOptions): OIDCConfig<CognitoProfile> {
  const pool = options.userPoolId
  return {
    id: 'cognito',
    name: 'Cognito',
    type: 'oidc',
    issuer: pool ? `https://cognito-idp.${options.region ?? pool.split('_')[0]}.amazonaws.com/${pool}` : undefined,
    style: { brandColor: '#c17b9e' },
    options,
  }
}
export { cognito }
