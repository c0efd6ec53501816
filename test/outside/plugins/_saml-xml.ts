/** A signed SAML response, as HTTP-POST-SimpleSign carries it. */
import { bytes, fromBase64, InvalidCheck } from 'authkernel/kernel'

interface Expected {
  issuer: string
  key: JsonWebKey
  destination: string
  audience: string
  now: Date
}
interface Assertion {
  id: string
  inResponseTo: string
  nameId: string
  attributes: Record<string, string>
}
interface Signature {
  key: RsaHashedImportParams | EcKeyImportParams
  verify: AlgorithmIdentifier | EcdsaParams
}
const SIGNATURES: Readonly<Record<string, Signature>> = {
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': { key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, verify: 'RSASSA-PKCS1-v1_5' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256': {
    key: { name: 'ECDSA', namedCurve: 'P-256' },
    verify: { name: 'ECDSA', hash: 'SHA-256' },
  },
}

/** Throws InvalidCheck for everything that is not the answer that was asked for. */
export async function readAssertion(form: URLSearchParams, expected: Expected): Promise<Assertion> {
  const one = (name: string): string => {
    const values = form.getAll(name)
    if (values.length !== 1) throw new InvalidCheck(`${name} must be there once.`)
    return values[0] ?? ''
  }
  const [relayState, algorithm] = [one('RelayState'), one('SigAlg')]
  const method = SIGNATURES[algorithm]
  const xml = new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(one('SAMLResponse')))
  const key = method && (await crypto.subtle.importKey('jwk', expected.key, method.key, false, ['verify']))
  const signed = bytes(`SAMLResponse=${xml}&RelayState=${relayState}&SigAlg=${algorithm}`)
  if (!method || !key || !(await crypto.subtle.verify(method.verify, key, fromBase64(one('Signature')), signed)))
    throw new InvalidCheck('The signature does not fit.')

  // Signed as a whole, so nothing can be wrapped into it; still, what is there twice is refused.
  const match = (pattern: RegExp): string | undefined => {
    const found = [...xml.matchAll(new RegExp(pattern, 'g'))]
    if (found.length > 1) throw new InvalidCheck(`${pattern.source} is there twice.`)
    return found[0]?.[1] === undefined ? undefined : unescape(found[0][1])
  }
  if (/<!DOCTYPE|<!ENTITY/.test(xml)) throw new InvalidCheck('No document types.')
  const inResponseTo = match(/<samlp:Response [^>]*InResponseTo="([^"]*)"/)
  const [id, nameId] = [match(/<saml:Assertion [^>]*ID="([^"]*)"/), match(/<saml:NameID[^>]*>([^<]*)</)]
  const [from, until] = [Date.parse(match(/NotBefore="([^"]*)"/) ?? ''), Date.parse(match(/NotOnOrAfter="([^"]*)"/) ?? '')]
  const now = expected.now.getTime()
  const fits =
    match(/<samlp:StatusCode Value="([^"]*)"/) === 'urn:oasis:names:tc:SAML:2.0:status:Success' &&
    inResponseTo === relayState &&
    match(/<samlp:Response [^>]*Destination="([^"]*)"/) === expected.destination &&
    match(/<saml:Issuer>([^<]*)</) === expected.issuer &&
    match(/<saml:Audience>([^<]*)</) === expected.audience &&
    from - 60_000 <= now &&
    now < until + 60_000
  if (!fits || !inResponseTo || !id || !nameId) throw new InvalidCheck('An answer that was not requested, or that is not valid now.')
  const attributes = [...xml.matchAll(/<saml:Attribute Name="([^"]*)"><saml:AttributeValue>([^<]*)</g)]
  return {
    id,
    inResponseTo,
    nameId,
    attributes: Object.fromEntries(attributes.map(([, name = '', value = '']) => [unescape(name), unescape(value)])),
  }
}
const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const unescape = (text: string): string =>
  text.replace(/&(?:#(\d+)|(amp|lt|gt|quot|apos));/g, (_, code: string | undefined, name: string) =>
    code ? String.fromCodePoint(Number(code)) : (names[name] ?? ''),
  )
