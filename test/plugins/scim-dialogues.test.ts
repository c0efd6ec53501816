/** Dialogues of directories, each step with the answer that the directory needs. */
import { describe, expect, it } from 'vitest'
import { createScimWorld } from './_scim.ts'
import { dialogues } from './_scim-dialogues.ts'

describe.each(Object.entries(dialogues))(
  '%s',
  (_name, { userAgent, accept = 'application/scim+json', contentType = 'application/scim+json', steps }) => {
    it('creates, changes and removes users and groups', async () => {
      const { send } = await createScimWorld()
      const ids: Record<string, string> = {}
      const fill = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(/\{(\w)\}/g, (_, name) => ids[name] ?? name)) as T
      for (const { as, send: request, status, has } of steps) {
        const [method, path, body] = fill(request)
        const answer = await send(method, path, body, {
          accept,
          ...(body !== undefined && { 'content-type': contentType }),
          ...(userAgent !== undefined && { 'user-agent': userAgent }),
        })
        if (answer.body) expect(answer.headers.get('content-type')).toBe(accept === 'application/json' ? accept : 'application/scim+json')
        expect([method, path, answer.status, answer.body?.detail]).toEqual([
          method,
          path,
          status,
          status < 400 ? undefined : expect.any(String),
        ])
        if (has) expect(answer.body).toMatchObject(fill(has))
        if (as) ids[as] = answer.body.id
      }
    })
  },
)
