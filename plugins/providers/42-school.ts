import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of `/v2/me`: the part that is documented and useful here. */
export interface FortyTwoSchoolProfile {
  [field: string]: unknown
  id?: number
  login?: string
  email?: string
  usual_full_name?: string
  image?: { link?: string | null; versions?: Record<string, string> }
  campus?: { id: number; name: string }[]
}

/**
 * Sign-in with 42 School. Register: https://profile.intra.42.fr/oauth/applications/new.
 * - The token answer carries `created_at`, which `account` may keep.
 * @see https://api.intra.42.fr/apidoc/guides/web_application_flow
 */
export default function fortyTwoSchool(options: OAuthUserConfig<FortyTwoSchoolProfile> = {}): OAuthConfig<FortyTwoSchoolProfile> {
  return {
    id: '42-school',
    name: '42 School',
    type: 'oauth',
    authorization: { url: 'https://api.intra.42.fr/oauth/authorize', params: { scope: 'public' } },
    token: 'https://api.intra.42.fr/oauth/token',
    userinfo: 'https://api.intra.42.fr/v2/me',
    profile: (profile) => ({
      id: String(profile.id),
      name: profile.usual_full_name,
      email: profile.email,
      image: profile.image?.link,
    }),
    style: { brandColor: '#000000', logo },
    options,
  }
}
export { fortyTwoSchool }

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M19.581 16.851H24v-4.439ZM24 3.574h-4.419v4.42l-4.419 4.418v4.44h4.419v-4.44L24 7.993Zm-4.419 0h-4.419v4.42zm-6.324 8.838H4.419l8.838-8.838H8.838L0 12.412v3.595h8.838v4.419h4.419z"/></svg>'
