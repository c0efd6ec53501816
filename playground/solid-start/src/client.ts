import { createClient } from 'authkernel/client'

export const { registerPasskey, signInWithPasskey } = createClient({ basePath: '/api/auth' })
