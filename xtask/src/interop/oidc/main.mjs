// Signs in with the program under test at a certified provider. Arguments: the program, the folder
// with the npm packages, and an empty folder for the home of the person.

import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Person } from './person.mjs';
import { startProvider } from './provider.mjs';
import { startResource } from './resource.mjs';

const [program, modules, home] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(modules, file)).href);
const { default: Provider } = await load('oidc-provider/lib/index.js');
const jose = await load('jose/dist/webapi/index.js');

const resource = await startResource(jose);
const { issuer, provider, log, server } = await startProvider(Provider, resource.resources);
Object.assign(resource, { issuer, provider });

mkdirSync(join(home, '.wharf'), { recursive: true, mode: 0o700 });
// Without a person, the secret is sent only to the issuer that the entry names.
const robot = {
  issuer,
  clientId: 'robot', clientSecret: 'robot-secret-4711', grant: 'client_credentials', scope: 'tools',
};
writeFileSync(join(home, '.wharf', 'mcp.json'), JSON.stringify({
  mcpServers: {
    web: { url: `${resource.origin}/mcp` },
    robot: { url: `${resource.origin}/robot`, oauth: robot },
    dpop: { url: `${resource.origin}/dpop` },
  },
}));

/** Runs the program; the person opens every address that matches. */
function run(line, opens) {
  return new Promise((done) => {
    const child = spawn(program, line.split(' '), {
      cwd: home,
      env: { HOME: home, PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let opened = false;
    const read = (chunk) => {
      output += chunk;
      const address = opens?.exec(output)?.[1];
      if (address && !opened) {
        opened = true;
        new Person().visit(address).catch((error) => { output += `\nperson: ${error}\n`; });
      }
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('close', (code) => done({ code, output }));
  });
}

async function expect(line, opens) {
  const { code, output } = await run(line, opens);
  if (code !== 0) throw new Error(`wharf ${line}: exit code ${code}\n${output}`);
}

function expectLog(...expected) {
  const found = log.splice(0).join(' ');
  if (found !== expected.join(' ')) {
    throw new Error(`the provider saw: ${found}; expected: ${expected.join(' ')}`);
  }
}

const PAGE = /^ {2}(http:\S+\/auth\?\S+)\s/m;
const DEVICE_PAGE = /or open\s+(http:\S+)\s/;

const cases = {
  'registration, and the authorization code with PKCE': async () => {
    await expect('login web --no-browser --timeout 20s', PAGE);
    expectLog('registration', 'authorization_code');
    await expect('call web/whoami');
    expectLog();
  },
  'rotation of the refresh token': async () => {
    for (let round = 0; round < 3; round += 1) {
      resource.expire();
      await expect('call web/whoami');
      expectLog('refresh_token');
    }
  },
  'revocation': async () => {
    await expect('logout web');
    expectLog('revocation');
    const { code } = await run('test web');
    if (code !== 4) throw new Error(`exit code ${code} after the revocation`);
  },
  'a code on another device': async () => {
    await expect('login web --device --timeout 30s', DEVICE_PAGE);
    expectLog('registration', 'urn:ietf:params:oauth:grant-type:device_code');
    await expect('call web/whoami');
  },
  'client credentials': async () => {
    await expect('call robot/whoami');
    expectLog('client_credentials');
  },
  'proof of possession, with nonces': async () => {
    await expect('login dpop --no-browser --timeout 20s', PAGE);
    log.length = 0;
    await expect('call dpop/whoami');
    resource.expire();
    await expect('call dpop/whoami');
    expectLog('refresh_token');
  },
};

let failed = 0;
for (const [name, test] of Object.entries(cases)) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    log.length = 0;
    console.log(`FAILED  ${name}\n${error.message.replaceAll(/^/gm, '        ')}`);
  }
}
for (const open of [server, resource.server]) {
  open.close();
  open.closeAllConnections();
}
process.exitCode = failed === 0 ? 0 : 1;
