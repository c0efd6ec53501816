/** Every source by its name, in one module that the first import loads. */
import { auth0 } from './auth0.ts'
import { clerk } from './clerk.ts'
import { cognito } from './cognito.ts'
import { firebase } from './firebase.ts'
import { createKeycloak } from './keycloak.ts'
import { lucia } from './lucia.ts'
import { passport } from './passport.ts'
import type { Source, SourceName } from './shape.ts'
import { supabase } from './supabase.ts'
import { supertokens } from './supertokens.ts'
import { workos } from './workos.ts'

const sources: Readonly<Record<SourceName, () => Source>> = {
  clerk: () => clerk,
  auth0: () => auth0,
  supabase: () => supabase,
  firebase: () => firebase,
  cognito: () => cognito,
  workos: () => workos,
  supertokens: () => supertokens,
  lucia: () => lucia,
  passport: () => passport,
  // It remembers the ids of usernames while it reads.
  keycloak: createKeycloak,
}

/** One object reads one export, in order. */
export function createSource(name: SourceName): Source {
  return sources[name]()
}
