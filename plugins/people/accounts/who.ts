/** Whose: the person who is signed in on a request, or a stored user; `tenant` as in `kernel.job`. */
export type Who = Request | { userId: string; tenant?: string | null }
