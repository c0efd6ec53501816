/** What providers answer: a full profile and a sparse one, as their documentation shows them; invented people. */

export interface Sample {
  /** Options without which the preset cannot work. */
  options?: Record<string, unknown>
  /** Userinfo answer, or claims of the ID token. */
  full: Record<string, unknown>
  /** The least that the provider may answer. */
  sparse: Record<string, unknown>
  /** Where the profile is inside the answer. */
  at?: string
  /** Members of the token answer beside the access token; null: the provider leaves it out. */
  tokens?: Record<string, unknown>
}

const issuer = 'https://idp.example/base'
const picture = 'https://img.example/ada.png'
const claims = { sub: 'sub-1', name: 'Ada Lovelace', email: 'Ada@Mail.example', email_verified: true, picture }
const openid = (options?: Record<string, unknown>, more: object = {}): Sample => ({
  ...(options && { options }),
  full: { ...claims, ...more },
  sparse: { sub: 'sub-1' },
})
const microsoft: Sample = {
  full: { sub: 'sub-1', name: 'Ada', email: 'ada@mail.example', oid: 'oid-1', tid: '11111111-2222-3333-4444-555555555555' },
  sparse: { sub: 'sub-1', tid: '11111111-2222-3333-4444-555555555555' },
}
const untyped = { token_type: null }

export const samples: Record<string, Sample> = {
  '42-school': {
    full: { id: 42, usual_full_name: 'Ada Lovelace', email: 'ada@student.example', image: { link: picture } },
    sparse: { id: 42 },
    tokens: { created_at: 1_767_000_000 },
  },
  apple: {
    full: { sub: 'sub-1', email: 'ada@privaterelay.example', email_verified: 'true', is_private_email: 'true' },
    sparse: { sub: 'sub-1' },
  },
  asgardeo: openid({ issuer }),
  atlassian: { full: { account_id: 'a-1', name: 'Ada', email: 'ada@mail.example', picture }, sparse: { account_id: 'a-1' } },
  auth0: openid({ issuer }),
  authentik: openid({ issuer }),
  'azure-ad': microsoft,
  'azure-ad-b2c': { options: { issuer }, full: { sub: 'sub-1', name: 'Ada', emails: ['ada@mail.example'] }, sparse: { sub: 'sub-1' } },
  'azure-devops': {
    full: { id: 'd-1', displayName: 'Ada', emailAddress: 'ada@mail.example', coreAttributes: { Avatar: { value: { value: 'AAAA' } } } },
    sparse: { id: 'd-1' },
    tokens: { token_type: 'jwt-bearer' },
  },
  'bankid-no': { full: { sub: 'sub-1', name: 'Ada', email: 'ada@mail.example' }, sparse: { sub: 'sub-1' } },
  battlenet: { options: { issuer }, full: { sub: 'sub-1', battle_tag: 'Ada#1815' }, sparse: { sub: 'sub-1' } },
  beyondidentity: openid({ issuer }, { preferred_username: 'ada' }),
  bitbucket: {
    full: { account_id: 'b-1', display_name: 'Ada', username: 'ada', links: { avatar: { href: picture } } },
    sparse: { account_id: 'b-1', username: 'ada' },
  },
  box: { full: { id: '17', name: 'Ada', login: 'ada@mail.example', avatar_url: picture }, sparse: { id: '17' } },
  'boxyhq-saml': {
    options: { issuer },
    full: { id: 's-1', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@mail.example' },
    sparse: { id: 's-1', email: 'ada@mail.example' },
  },
  bungie: {
    options: { apiKey: 'api-key' },
    full: { Response: { bungieNetUser: { membershipId: '4611', displayName: 'Ada', profilePicturePath: 'img/ada.png' } } },
    sparse: { Response: { bungieNetUser: { membershipId: '4611' } } },
    tokens: { membership_id: '4611' },
  },
  'click-up': {
    full: { user: { id: 7, username: 'Ada', color: '#fff000', profilePicture: picture } },
    sparse: { user: { id: 7, username: 'Ada', profilePicture: null } },
    tokens: untyped,
  },
  cognito: openid({ issuer }),
  coinbase: { full: { data: { id: 'c-1', name: 'Ada', email: 'ada@mail.example', avatar_url: picture } }, sparse: { data: { id: 'c-1' } } },
  concept2: {
    full: { data: { id: 3, username: 'ada', email: 'ada@mail.example', profile_image: picture } },
    sparse: { data: { id: 3, username: 'ada' } },
  },
  descope: openid(),
  discord: {
    full: {
      id: '175928847299117063',
      username: 'ada',
      discriminator: '0',
      global_name: 'Ada',
      avatar: 'a_1f',
      email: 'ada@mail.example',
      verified: true,
    },
    sparse: { id: '175928847299117063', username: 'ada', discriminator: '0', avatar: null },
  },
  dribbble: { full: { id: 5, name: 'Ada', email: 'ada@mail.example', avatar_url: picture }, sparse: { id: 5 } },
  dropbox: {
    full: { account_id: 'dbid:1', name: { display_name: 'Ada' }, email: 'ada@mail.example', profile_photo_url: picture },
    sparse: { account_id: 'dbid:1' },
  },
  'duende-identity-server6': openid({ issuer }),
  'entra-external-id': openid({ issuer }),
  eventbrite: {
    full: {
      id: '9',
      name: 'Ada',
      emails: [{ email: 'old@mail.example' }, { email: 'ada@mail.example', primary: true, verified: true }],
      image_id: '77',
    },
    sparse: { id: '9', name: 'Ada', emails: [], image_id: null },
  },
  eveonline: { full: { CharacterID: 95_465_499, CharacterName: 'Ada' }, sparse: { CharacterID: 95_465_499 } },
  facebook: {
    full: { id: '10', name: 'Ada', email: 'ada@mail.example', picture: { data: { url: picture } } },
    sparse: { id: '10', name: 'Ada' },
  },
  faceit: { full: { guid: 'g-1', name: 'Ada', email: 'ada@mail.example', picture }, sparse: { guid: 'g-1' } },
  figma: { full: { id: '12', handle: 'Ada', email: 'ada@mail.example', img_url: picture }, sparse: { id: '12', handle: 'Ada' } },
  foursquare: {
    full: {
      response: {
        user: {
          id: '13',
          firstName: 'Ada',
          lastName: 'Lovelace',
          contact: { email: 'ada@mail.example' },
          photo: { prefix: 'https://img.example/', suffix: '/ada.png' },
        },
      },
    },
    sparse: { response: { user: { id: '13', firstName: 'Ada' } } },
    tokens: untyped,
  },
  freshbooks: {
    full: { response: { id: 14, first_name: 'Ada', last_name: 'Lovelace', email: 'ada@mail.example' } },
    sparse: { response: { id: 14, email: 'ada@mail.example' } },
  },
  frontegg: openid({ issuer }),
  fusionauth: {
    options: { issuer },
    full: { sub: 'sub-1', given_name: 'Ada', family_name: 'Lovelace', email: 'ada@mail.example', picture },
    sparse: { sub: 'sub-1' },
  },
  github: {
    full: { id: 1, login: 'ada', name: 'Ada', email: 'ada@mail.example', avatar_url: picture },
    sparse: { id: 1, login: 'ada', email: null },
  },
  gitlab: {
    full: { id: 15, name: 'Ada', username: 'ada', email: 'ada@mail.example', avatar_url: picture },
    sparse: { id: 15, username: 'ada', avatar_url: null },
  },
  google: openid(),
  gumroad: {
    full: { success: true, user: { user_id: 'gum-1', name: 'Ada', email: 'ada@mail.example', profile_picture_url: picture } },
    sparse: { success: true, user: { id: 'gum-1' } },
    at: 'user',
  },
  hubspot: { full: { user_id: 16, user: 'ada@mail.example' }, sparse: { user_id: 16 } },
  huggingface: openid(),
  hydra: openid({ issuer }),
  'identity-server4': openid({ issuer }),
  instagram: { full: { id: '18', username: 'ada' }, sparse: { id: '18' }, tokens: untyped },
  kakao: {
    full: {
      id: 19,
      kakao_account: { email: 'ada@mail.example', is_email_verified: true, profile: { nickname: 'Ada', profile_image_url: picture } },
    },
    sparse: { id: 19 },
  },
  keycloak: openid({ issuer }),
  kick: {
    full: { data: [{ user_id: 20, name: 'Ada', email: 'ada@mail.example', profile_picture: picture }] },
    sparse: { data: [{ user_id: 20 }] },
    at: 'data.0',
  },
  kinde: openid({ issuer }),
  line: openid(),
  linear: {
    full: { data: { viewer: { id: 'l-1', name: 'Ada', email: 'ada@mail.example', avatarUrl: picture } } },
    sparse: { data: { viewer: { id: 'l-1' } } },
    at: 'data.viewer',
  },
  linkedin: openid(),
  logto: openid({ issuer }),
  mailchimp: {
    full: { accountname: 'Ada Ltd', login: { login_id: 21, email: 'ada@mail.example' } },
    sparse: { login: { login_id: 21 } },
    tokens: { token_type: null, expires_in: 0, scope: null },
  },
  mailru: { full: { id: '22', name: 'Ada', email: 'ada@mail.example', image: picture }, sparse: { id: '22', nickname: 'ada' } },
  mastodon: { options: { issuer }, full: { id: '23', username: 'ada', avatar_static: picture }, sparse: { id: '23' } },
  mattermost: {
    options: { issuer },
    full: { id: '24', username: 'ada', email: 'ada@mail.example' },
    sparse: { id: '24', first_name: 'Ada' },
  },
  medium: { full: { data: { id: '25', name: 'Ada', imageUrl: picture } }, sparse: { data: { id: '25' } } },
  'microsoft-entra-id': microsoft,
  naver: {
    full: { response: { id: '26', nickname: 'Ada', email: 'ada@mail.example', profile_image: picture } },
    sparse: { response: { id: '26' } },
  },
  netlify: { full: { id: '27', full_name: 'Ada', email: 'ada@mail.example', avatar_url: picture }, sparse: { id: '27' } },
  netsuite: {
    options: { accountID: '1234567', userinfo: 'https://1234567.restlets.api.netsuite.com/whoami' },
    full: { id: 28, name: 'Ada', email: 'ada@mail.example' },
    sparse: { id: 28 },
  },
  nextcloud: {
    options: { issuer },
    full: { ocs: { data: { id: 'ada', displayname: 'Ada', email: 'ada@mail.example' } } },
    sparse: { ocs: { data: { id: 'ada', email: null } } },
    at: 'ocs.data',
    tokens: { user_id: 'ada' },
  },
  notion: {
    full: { bot: { owner: { user: { id: 'n-1', name: 'Ada', person: { email: 'ada@mail.example' }, avatar_url: picture } } } },
    sparse: { bot: { owner: { user: { id: 'n-1', name: null, avatar_url: null } } } },
    at: 'bot.owner.user',
  },
  okta: openid({ issuer }),
  onelogin: openid({ issuer: `${issuer}/oidc/2` }),
  osso: { options: { issuer: `${issuer}/` }, full: { id: 'o-1', name: 'Ada', email: 'ada@mail.example' }, sparse: { id: 'o-1' } },
  osu: { full: { id: 29, username: 'ada', avatar_url: picture }, sparse: { id: 29 } },
  passage: { options: { issuer }, full: { sub: 'sub-1', email: 'ada@mail.example', email_verified: true }, sparse: { sub: 'sub-1' } },
  patreon: {
    full: { data: { id: '30', attributes: { full_name: 'Ada', email: 'ada@mail.example', image_url: picture } } },
    sparse: { data: { id: '30' } },
  },
  paypal: {
    full: { user_id: 'https://www.paypal.com/id/31', name: 'Ada', emails: [{ value: 'ada@mail.example', primary: true, confirmed: true }] },
    sparse: { user_id: 'https://www.paypal.com/id/31' },
  },
  'ping-id': openid({ issuer }),
  pinterest: { full: { username: 'ada', profile_image: picture }, sparse: { username: 'ada' } },
  pipedrive: {
    full: { data: { id: 32, name: 'Ada', email: 'ada@mail.example', icon_url: picture } },
    sparse: { data: { id: 32, icon_url: null } },
  },
  polar: openid(),
  railway: openid(),
  reddit: { full: { id: 'r-1', name: 'ada', icon_img: 'https://img.example/ada.png?a=1&amp;b=2' }, sparse: { id: 'r-1', name: 'ada' } },
  roblox: openid(),
  salesforce: openid(),
  simplelogin: { full: { ...claims, avatar_url: picture }, sparse: { sub: 'sub-1', avatar_url: null } },
  slack: openid(),
  spotify: {
    full: { id: 'ada', display_name: 'Ada', email: 'ada@mail.example', images: [{ url: picture }] },
    sparse: { id: 'ada', display_name: null },
  },
  strava: { full: { id: 33, firstname: 'Ada', lastname: 'Lovelace', profile: picture }, sparse: { id: 33 } },
  threads: {
    full: { data: { id: '34', username: 'ada', threads_profile_picture_url: picture } },
    sparse: { data: { id: '34' } },
    tokens: untyped,
  },
  tiktok: {
    full: { data: { user: { open_id: 't-1', display_name: 'Ada', avatar_url: picture } } },
    sparse: { data: { user: { open_id: 't-1' } } },
  },
  todoist: {
    full: { user: { id: '35', full_name: 'Ada', email: 'ada@mail.example', avatar_big: picture } },
    sparse: { user: { id: '35' } },
    at: 'user',
  },
  trakt: { full: { ids: { slug: 'ada' }, name: 'Ada', images: { avatar: { full: picture } } }, sparse: { ids: { slug: 'ada' } } },
  twitch: {
    full: { sub: '36', preferred_username: 'Ada', email: 'ada@mail.example', picture },
    sparse: { sub: '36' },
    tokens: { scope: ['openid', 'user:read:email'] },
  },
  twitter: { full: { data: { id: '37', name: 'Ada', username: 'ada', profile_image_url: picture } }, sparse: { data: { id: '37' } } },
  'united-effects': openid({ issuer }),
  vercel: openid(),
  vipps: openid(),
  vk: {
    full: { response: [{ id: 38, first_name: 'Ada', last_name: 'Lovelace', photo_100: picture }] },
    sparse: { response: [{ id: 38 }] },
    at: 'response.0',
    tokens: { token_type: null, email: 'ada@mail.example', user_id: 38 },
  },
  'vk-id': {
    full: { user: { user_id: '38', first_name: 'Ada', last_name: 'Lovelace', email: 'ada@mail.example', avatar: picture } },
    sparse: { user: { user_id: '38', first_name: 'Ada' } },
    at: 'user',
  },
  webex: { full: { id: '39', displayName: 'Ada', emails: ['ada@mail.example'], avatar: picture }, sparse: { id: '39' } },
  wechat: {
    full: { openid: 'open-1', unionid: 'union-1', nickname: 'Ada', headimgurl: picture },
    sparse: { openid: 'open-1', unionid: 'union-1' },
    tokens: { token_type: null, openid: 'open-1', unionid: 'union-1' },
  },
  wikimedia: { full: { sub: '40', username: 'Ada', email: 'ada@mail.example' }, sparse: { sub: '40', username: 'Ada' } },
  wordpress: { full: { ID: 41, display_name: 'Ada', email: 'ada@mail.example', avatar_URL: picture }, sparse: { ID: 41 } },
  workos: {
    full: { id: 'w-1', first_name: 'Ada', last_name: 'Lovelace', email: 'ada@mail.example', raw_attributes: { picture } },
    sparse: { id: 'w-1', email: 'ada@mail.example', first_name: null, last_name: null },
  },
  yandex: {
    full: { id: '43', display_name: 'Ada', default_email: 'ada@mail.example', is_avatar_empty: false, default_avatar_id: '1/2' },
    sparse: { id: '43', is_avatar_empty: true, default_avatar_id: '0/0-0' },
  },
  zitadel: openid({ issuer }),
  zoho: {
    full: { ZUID: 44, First_Name: 'Ada', Last_Name: 'Lovelace', Email: 'ada@mail.example' },
    sparse: { ZUID: 44, Email: 'ada@mail.example' },
  },
  zoom: {
    full: { id: '45', first_name: 'Ada', last_name: 'Lovelace', email: 'ada@mail.example', pic_url: picture, verified: 1 },
    sparse: { id: '45', email: 'ada@mail.example' },
  },
}

/** The profile inside an answer. */
export function profileIn(answer: Record<string, unknown>, { at }: Sample): Record<string, unknown> {
  let profile: unknown = answer
  for (const step of at?.split('.') ?? []) profile = (profile as Record<string, unknown>)[step]
  return profile as Record<string, unknown>
}
