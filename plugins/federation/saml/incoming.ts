/** Messages that come by HTTP-Redirect or HTTP-POST to our logout service, and their signatures (SAML Bindings sections 3.4 and 3.5). */
import { bytes, type Context, fromBase64 } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import { Refusal } from './errors.ts'
import { decodeMessage, maxMessage, withXmlRefusal } from './response.ts'
import { assertPlaces, findSignature, readSigned, type Trust } from './signature.ts'
import { parseXml, type XmlElement } from './xml.ts'

/** A message and what came with it. */
export interface Incoming {
  parameter: 'SAMLRequest' | 'SAMLResponse'
  xml: string
  /** Not verified. */
  root: XmlElement
  relayState: string | undefined
}

const algorithms: Readonly<Record<string, string>> = {
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384': 'sha384',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': 'sha512',
}
const sha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'

/** Throws `Refusal` for what is no single message. */
export async function readIncoming(ctx: Context): Promise<Incoming> {
  const isPost = ctx.request.method === 'POST'
  const parameters = isPost ? await ctx.form() : ctx.url.searchParams
  const found = (['SAMLRequest', 'SAMLResponse'] as const).filter((name) => parameters.has(name))
  const [parameter] = found
  if (!parameter || found.length > 1 || parameters.getAll(parameter).length !== 1)
    throw new Refusal('The request does not have exactly one `SAMLRequest` or `SAMLResponse`.', { check: 'form' })
  // A signature over the query covers one of each as it was written: another spelling of the name would be read and not signed.
  const repeated = ['RelayState', 'SigAlg', 'Signature'].find((name) => parameters.getAll(name).length > 1)
  if (repeated) throw new Refusal(`The request repeats \`${repeated}\`.`, { check: 'form' })
  const encoded = parameters.get(parameter) ?? ''
  const xml = isPost ? decodeMessage(encoded) : await inflate(encoded)
  const root = withXmlRefusal(() => parseXml(xml))
  return { parameter, xml, root, relayState: parameters.get('RelayState')?.slice(0, 1024) }
}

/** The message from signed bytes: those of the query, or of the XML signature. Throws `Refusal` where there is none, or none that a certificate fits. */
export async function verifyIncoming(ctx: Context, { parameter, xml, root }: Incoming, trust: Trust): Promise<XmlElement> {
  if (ctx.request.method !== 'POST') {
    verifyQuery(ctx, parameter, trust)
    return root
  }
  const signature = withXmlRefusal(() => {
    const found = findSignature(root, trust)
    assertPlaces(root, [found])
    return found
  })
  if (!signature) throw new Refusal('The message is not signed.', { check: 'signature' })
  const { tree } = await readSigned(xml, undefined, trust)
  if (tree.local !== root.local || tree.namespace !== root.namespace)
    throw new Refusal('Something else was signed.', { check: 'signature' })
  return tree
}

function verifyQuery(ctx: Context, parameter: string, trust: Trust): void {
  // As they were written: the signature covers the octets of the query.
  const written = new URL(ctx.request.url).search.slice(1).split('&')
  const part = (name: string): string | undefined => {
    const [found, ...more] = written.filter((one) => one.startsWith(`${name}=`))
    if (more.length > 0 || ctx.url.searchParams.has(name) !== (found !== undefined))
      throw new Refusal(`The address repeats \`${name}\`, or spells the name in another way.`, { check: 'form' })
    return found
  }
  const [signature, algorithm, relay] = [
    ctx.url.searchParams.get('Signature'),
    ctx.url.searchParams.get('SigAlg') ?? '',
    part('RelayState'),
  ]
  const [message, named] = [part(parameter), part('SigAlg')]
  if (!signature || !message || !named || !part('Signature')) throw new Refusal('The message is not signed.', { check: 'signature' })
  const hash = algorithms[algorithm] ?? (trust.sha1 && algorithm === sha1 ? 'sha1' : undefined)
  if (hash === undefined || !Object.hasOwn({ ...algorithms, [sha1]: '' }, algorithm))
    throw new Refusal('The algorithm of the signature is not accepted.', { check: 'algorithm', received: algorithm })
  const text = [message, relay, named].filter((one) => one !== undefined).join('&')
  const crypto = nodeCrypto()
  const fits = trust.certificates.some((pem) => {
    try {
      return crypto?.verify(hash, bytes(text), pem, fromBase64(signature.replace(/\s+/g, ''))) === true
    } catch {
      return false
    }
  })
  if (!fits) throw new Refusal('The signature fits none of the certificates.', { check: 'signature' })
}

/** At most 256 KB, however small it is compressed. */
async function inflate(encoded: string): Promise<string> {
  const wrong = (): Refusal => new Refusal('The message is not deflated XML in base64.', { check: 'form' })
  if (encoded.length > maxMessage) throw wrong()
  const parts: Uint8Array[] = []
  let size = 0
  try {
    const stream = new Blob([fromBase64(encoded.replace(/\s+/g, ''))]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
    for (const reader = stream.getReader(); ;) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.byteLength
      if (size > maxMessage) {
        await reader.cancel()
        throw wrong()
      }
      parts.push(value)
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await new Blob(parts as BlobPart[]).arrayBuffer())
  } catch {
    throw wrong()
  }
}
