/** Users that a directory creates, one request each, as a first import does. */

/** Users per second, and milliseconds of CPU time of the server's process for each. */
export async function importUsers(send, { count, inFlight }) {
  const createUser = async (at) => {
    const { status, body } = await send('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: `user${at}@acme.example`,
      externalId: `ext-${at}`,
      name: { givenName: 'User', familyName: String(at) },
      emails: [{ value: `user${at}@acme.example`, type: 'work', primary: true }],
      active: true,
    })
    if (status !== 201) throw new Error(`POST /Users: ${status} ${JSON.stringify(body)}`)
  }
  for (let at = -50; at < 0; at++) await createUser(at)
  let next = 0
  const cpu = process.cpuUsage()
  const began = performance.now()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) await createUser(next++)
    }),
  )
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { count, inFlight, seconds, perSecond: count / seconds, cpu: (user + system) / 1000 / count }
}
