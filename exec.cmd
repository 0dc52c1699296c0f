@rem `npm start` runs `exec node`, so that no shell stays between npm and the service. cmd.exe has no `exec`.
@%*
