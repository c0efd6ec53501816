/** What pages of a host can draw: the methods that the client has, and whether an address may lead to the provider of its company. */
import { type Context, type Features, json } from 'authkernel/kernel'
import { hasRealms } from './identifier.ts'

/** `client.pages.getFeatures()`. The same for all users. */
export function answerFeatures(ctx: Context): Response {
  const methods: Record<string, string[]> = {}
  for (const { client } of ctx.app.routes.list) {
    const [namespace, name] = client?.split('.') ?? []
    if (namespace !== undefined && name !== undefined) (methods[namespace] ??= []).push(name)
  }
  return json({ methods, homeRealm: hasRealms(ctx) } satisfies Features)
}
