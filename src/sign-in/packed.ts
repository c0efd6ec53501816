/** Plain data as short text: deflated where the runtime can. */
import { bytes, fromBase64, toBase64Url } from '../keys/crypto.ts'

/** JSON, deflated (RFC 1951), as base64url behind a mark; without compression streams as it is. */
export async function deflated(value: unknown): Promise<string> {
  const json = JSON.stringify(value)
  if (typeof CompressionStream === 'undefined') return `-${json}`
  return `d${toBase64Url(await through(bytes(json), new CompressionStream('deflate-raw')))}`
}

/** What `deflated` made. */
export async function inflated(text: string): Promise<unknown> {
  if (text.startsWith('-')) return JSON.parse(text.slice(1)) as unknown
  const json = await through(fromBase64(text.slice(1)), new DecompressionStream('deflate-raw'))
  return JSON.parse(new TextDecoder().decode(json)) as unknown
}

async function through(input: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const body = new Blob([input]).stream().pipeThrough(stream)
  return new Uint8Array(await new Response(body).arrayBuffer())
}
