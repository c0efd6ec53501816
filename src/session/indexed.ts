/** Names that a provider gives, as columns hold them. */
import { sha256, toHex } from '../keys/crypto.ts'

/** A provider's name for something, as it is indexed: itself, or its hash where a column would not hold it. */
export async function indexed(name: string): Promise<string> {
  return /^[\x21-\x7e]{1,200}$/.test(name) ? name : `sha256:${toHex(await sha256(name))}`
}
