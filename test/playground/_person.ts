import type { BindingPerson } from 'authkernel/testing'

/** The person with a password in every playground. */
export const demo: BindingPerson = {
  provider: 'credentials',
  name: 'Demo Person',
  right: { username: 'demo', password: 'playground' },
  wrong: { username: 'demo', password: 'wrong' },
}
