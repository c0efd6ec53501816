/** A host that changes passwords under a durable audit log, in a process that may be killed. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type AuditApi, auditPlugin, recordsSink } from 'authkernel/plugins/audit'

/** Changes passwords until the process is killed. Tells each one that was answered. */
export interface AuditTask {
  do: 'audit'
  durable: boolean
}

/** `POST /changed?user=` answers when a change of a password was told. */
export function auditedHost(adapter: Adapter, durable: boolean): Auth<AuditApi> {
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
  })
    .use(adapterPlugin(adapter))
    .use({
      name: 'changes',
      setup: (kernel) =>
        kernel.route({
          method: 'POST',
          path: '/changed',
          csrf: 'crossSite',
          async handler(ctx) {
            await ctx.emit('credentialChanged', { user: { id: ctx.url.searchParams.get('user')! }, kind: 'password', action: 'changed' })
            return new Response(null, { status: 204 })
          },
        }),
    })
    .use(auditPlugin({ sink: recordsSink(), durable, chain: true, pause: 60_000 }))
}

export async function changeForever(adapter: Adapter, { durable }: AuditTask): Promise<never> {
  const auth = auditedHost(adapter, durable)
  await auth.ready()
  for (let at = 0; ; at++) {
    const user = `${process.pid}-${at}`
    const response = await auth.handler(new Request(`http://localhost:3000/auth/changed?user=${user}`, { method: 'POST' }))
    if (response.status === 204) process.send!({ changed: user })
  }
}
