import type { Session } from 'authkernel'

/** The session of the page: read on the server, and handed to the browser with it. */
export const useSession = () => useState<Session | null>('session', () => null)
