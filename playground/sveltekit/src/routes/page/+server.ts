import { json } from '@sveltejs/kit'

export const GET = async ({ locals }) => json(await locals.auth())
