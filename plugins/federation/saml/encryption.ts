/** Encrypted assertions (XML Encryption 1.1). Every failure looks the same, so that answers tell nothing about a key or a padding. */
import { Refusal } from './errors.ts'
import { loadSamlLibrary } from './library.ts'
import { attributeOf, contentOf, elementsOf, isNamed, ns, requireChild, walk } from './tree.ts'
import { textOf, type XmlElement } from './xml.ts'

const contents = [
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
]
const transport = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p'
const keyDigests = [
  'http://www.w3.org/2000/09/xmldsig#sha1',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
]

/**
 * The text of the assertion inside `encrypted`, an element of the text `source`. `keys` are tried in their order: private keys in PEM. Throws `Refusal`,
 * which says the same for a wrong key, a wrong padding and a wrong text.
 */
export async function decryptAssertion(encrypted: XmlElement, source: string, keys: readonly string[]): Promise<string> {
  if (keys.length === 0)
    throw new Refusal('The assertion is encrypted, and the provider has no `decryption` key.', {
      check: 'encryption',
      fix: 'Set `decryption: { privateKey, certificate }`, or switch encryption off at the identity provider.',
    })
  assertForm(encrypted)
  const { decryptXml } = await loadSamlLibrary()
  const xml = textOf(encrypted, source)
  for (const key of keys) {
    try {
      const text = await decryptXml(xml, key)
      if (text.startsWith('<')) return text
    } catch {
      // The next key, or the one answer below.
    }
  }
  throw new Refusal('The assertion could not be decrypted.', {
    check: 'encryption',
    fix: 'Give the identity provider the certificate that our metadata shows for encryption.',
  })
}

/** One of each element, because the library takes the first that it finds. */
function assertForm(encrypted: XmlElement): void {
  const count = (local: string): number => [...walk(encrypted)].filter((one) => one.local === local).length
  const data = requireChild(encrypted, [ns.encryption, 'EncryptedData'])
  const info = requireChild(data, [ns.signature, 'KeyInfo'])
  const key = requireChild(info, [ns.encryption, 'EncryptedKey'])
  const counts = [count('EncryptedData'), count('EncryptedKey'), count('CipherValue'), count('EncryptionMethod'), count('CipherReference')]
  if (elementsOf(encrypted).length !== 1 || counts.join() !== '1,1,2,2,0')
    refuse('An encrypted assertion has another form than one key inside one element.')
  const method = attributeOf(requireChild(data, [ns.encryption, 'EncryptionMethod']), 'Algorithm') ?? ''
  if (!contents.includes(method)) refuse('The algorithm of an encrypted assertion is not accepted.', method)
  const keyMethod = requireChild(key, [ns.encryption, 'EncryptionMethod'])
  const name = attributeOf(keyMethod, 'Algorithm') ?? ''
  if (name !== transport) refuse('The key of an encrypted assertion is not encrypted with RSA-OAEP.', name)
  for (const child of elementsOf(keyMethod)) {
    if (!isNamed(child, [ns.signature, 'DigestMethod']) || !keyDigests.includes(attributeOf(child, 'Algorithm') ?? ''))
      refuse('The key of an encrypted assertion has parameters that are not accepted.')
  }
  for (const one of [data, key]) {
    const value = requireChild(requireChild(one, [ns.encryption, 'CipherData']), [ns.encryption, 'CipherValue'])
    if (contentOf(value).replace(/\s/g, '').length < 48) refuse('An encrypted assertion is too short.')
  }
}

function refuse(message: string, received?: string): never {
  throw new Refusal(message, { check: 'encryption', received, fix: 'Let the identity provider encrypt with AES-GCM and RSA-OAEP.' })
}
