import '@auth/sveltekit'
