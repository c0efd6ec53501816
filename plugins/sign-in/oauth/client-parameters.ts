/** Which parameters of a sign-in's URL the provider gets: those that nobody has fixed, in any spelling that a server might read. */

// D11, and the token that protects this very request.
const reserved = new Set(
  ['response_type', 'response_mode', 'client_id', 'redirect_uri', 'state', 'nonce', 'code_challenge', 'code_challenge_method'].concat([
    'request',
    'request_uri',
    'claims',
    'csrftoken',
  ]),
)
/** What the host demands is not the client's to weaken; of `max_age` less is more. */
const fixed = ['acr_values', 'resource']
/** Parameters that servers know: they are taken as they are spelled by the standards, or not at all. */
const standard = new Set(
  ['scope', 'prompt', 'display', 'max_age', 'ui_locales', 'claims_locales', 'id_token_hint', 'login_hint', 'acr_values', 'resource'].concat(
    [
      'audience',
      'authorization_details',
      'dpop_jkt',
      'registration',
      'client_assertion',
      'client_assertion_type',
      'client_secret',
      'code',
      'iss',
    ],
  ),
)

/** `own`: the parameters of the host, to which those of the client are added. */
export function clientParameters(own: URLSearchParams): (name: string, value: string) => boolean {
  const written = new Set([...own.keys()].flatMap(readingsOf))
  const demanded = new Set(fixed.filter((name) => written.has(name)))
  const longest = own.has('max_age') ? Number(own.get('max_age')) : undefined
  return (name, value) => {
    const readings = readingsOf(name)
    if (readings.some((read) => reserved.has(read) || demanded.has(read))) return false
    // Two spellings of one name: nobody knows which one the server reads.
    if (readings.some((read) => read !== name && (standard.has(read) || written.has(read)))) return false
    return name !== 'max_age' || longest === undefined || (/^\d{1,9}$/.test(value) && Number(value) <= longest)
  }
}

/** As servers read a name: some ignore case, and read "redirect_uri[]", "redirect.uri" and "redirect[uri" as redirect_uri. */
function readingsOf(name: string): string[] {
  const plain = name
    .normalize('NFKC')
    // eslint-disable-next-line no-control-regex
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .toLowerCase()
  const [base = ''] = plain.split('[')
  return [...new Set([base, plain.replace(/\]$/, '')].map((read) => read.replace(/[. [+]/g, '_')))]
}
