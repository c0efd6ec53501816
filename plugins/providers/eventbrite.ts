import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface EventbriteProfile {
  [field: string]: unknown
  id?: string
  name?: string
  first_name?: string
  last_name?: string
  emails?: { email: string; verified?: boolean; primary?: boolean }[]
  image_id?: string | null
}

/**
 * Sign-in with Eventbrite. Register: an API key, at https://www.eventbrite.com/platform/api-keys.
 * @see https://www.eventbrite.com/platform/api#/introduction/authentication
 */
export default function eventbrite(options: OAuthUserConfig<EventbriteProfile> = {}): OAuthConfig<EventbriteProfile> {
  return {
    id: 'eventbrite',
    name: 'Eventbrite',
    type: 'oauth',
    authorization: { url: 'https://www.eventbrite.com/oauth/authorize', params: { scope: 'user.profile' } },
    token: 'https://www.eventbrite.com/oauth/token',
    userinfo: 'https://www.eventbriteapi.com/v3/users/me/',
    client: { token_endpoint_auth_method: 'client_secret_post' },
    emailVerified: (profile) => findPrimaryEmail(profile)?.verified,
    profile: (profile) => ({
      id: profile.id,
      name: profile.name,
      email: findPrimaryEmail(profile)?.email,
      image: profile.image_id
        ? `https://img.evbuc.com/https%3A%2F%2Fcdn.evbuc.com%2Fimages%2F${profile.image_id}%2F1%2Foriginal.jpg`
        : null,
    }),
    style: { brandColor: '#f05537' },
    options,
  }
}
export { eventbrite }

function findPrimaryEmail({ emails }: EventbriteProfile): { email: string; verified?: boolean } | undefined {
  return emails?.find((address) => address.primary)
}
