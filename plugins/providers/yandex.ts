import type { OAuthConfig, OAuthUserConfig } from 'authkernel/kernel'

/** Answer of the userinfo endpoint. */
export interface YandexProfile {
  [field: string]: unknown
  id?: string
  login?: string
  display_name?: string
  real_name?: string
  first_name?: string
  last_name?: string
  default_email?: string
  emails?: string[]
  is_avatar_empty?: boolean
  default_avatar_id?: string
}

/**
 * Sign-in with Yandex. Register: an app, at https://oauth.yandex.com.
 * @see https://yandex.com/dev/id/doc/en/
 */
export default function yandex(options: OAuthUserConfig<YandexProfile> = {}): OAuthConfig<YandexProfile> {
  return {
    id: 'yandex',
    name: 'Yandex',
    type: 'oauth',
    authorization: { url: 'https://oauth.yandex.ru/authorize', params: { scope: 'login:info login:email login:avatar' } },
    token: 'https://oauth.yandex.ru/token',
    userinfo: { url: 'https://login.yandex.ru/info', params: { format: 'json' } },
    profile: (profile) => ({
      id: profile.id,
      name: profile.display_name ?? profile.real_name ?? profile.first_name,
      email: profile.default_email ?? profile.emails?.[0] ?? null,
      image:
        !profile.is_avatar_empty && profile.default_avatar_id
          ? `https://avatars.yandex.net/get-yapic/${profile.default_avatar_id}/islands-200`
          : null,
    }),
    style: { brandColor: '#ffcc00' },
    options,
  }
}
export { yandex }
