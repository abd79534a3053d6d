// A small MCP server whose tokens come from the provider. The path `/dpop` takes only tokens with a
// proof of possession (RFC 9449), the others take bearer tokens.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const PATHS = ['/mcp', '/robot', '/dpop'];
const METADATA = '/.well-known/oauth-protected-resource';

/** Starts the server on a free port. */
export async function startResource(jose) {
  const state = { provider: undefined, issuer: undefined, expired: new Set(), tokens: new Set() };
  const server = createServer((request, response) => {
    handle(state, jose, request, response).catch((error) => response.destroy(error));
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  state.origin = `http://127.0.0.1:${server.address().port}`;
  state.server = server;
  state.resources = () => PATHS.map((path) => state.origin + path);
  /** Makes all tokens that were used so far invalid. */
  state.expire = () => state.tokens.forEach((token) => state.expired.add(token));
  return state;
}

async function handle(state, jose, request, response) {
  const path = request.url.split('?')[0];
  if (path.startsWith(METADATA)) {
    const resource = path.slice(METADATA.length);
    const known = state.resources().includes(state.origin + resource);
    return send(response, known ? 200 : 404, known ? metadata(state, resource) : {});
  }
  if (!PATHS.includes(path)) return send(response, 404, {});
  const refusal = await check(state, jose, request, path);
  if (refusal) {
    const scheme = path === '/dpop' ? 'DPoP' : 'Bearer';
    const where = `resource_metadata="${state.origin}${METADATA}${path}"`;
    response.setHeader('www-authenticate', `${scheme} error="${refusal}", ${where}`);
    return send(response, 401, {});
  }
  if (request.method !== 'POST') return send(response, 405, {});
  const message = JSON.parse(await text(request));
  const result = answer(message);
  if (message.id === undefined) return send(response, 202);
  const body = result
    ? { jsonrpc: '2.0', id: message.id, result }
    : { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } };
  return send(response, 200, body);
}

function metadata(state, path) {
  const bound = path === '/dpop'
    ? { dpop_bound_access_tokens_required: true, dpop_signing_alg_values_supported: ['ES256'] }
    : {};
  return {
    resource: state.origin + path,
    authorization_servers: [state.issuer],
    scopes_supported: ['tools'],
    ...bound,
  };
}

/** Returns the error of a request that may not pass. */
async function check(state, jose, request, path) {
  const [scheme = '', token = ''] = (request.headers.authorization ?? '').split(' ');
  const wanted = path === '/dpop' ? 'dpop' : 'bearer';
  if (scheme.toLowerCase() !== wanted || state.expired.has(token)) return 'invalid_token';
  const { AccessToken, ClientCredentials } = state.provider;
  const found = await AccessToken.find(token) ?? await ClientCredentials.find(token);
  if (!found?.isValid || found.aud !== state.origin + path) return 'invalid_token';
  state.tokens.add(token);
  if (wanted === 'bearer') return undefined;
  try {
    const { payload, protectedHeader } =
      await jose.jwtVerify(request.headers.dpop ?? '', jose.EmbeddedJWK, { typ: 'dpop+jwt' });
    const hash = createHash('sha256').update(token).digest('base64url');
    const isProof = payload.htm === request.method
      && payload.htu === state.origin + path
      && payload.ath === hash
      && await jose.calculateJwkThumbprint(protectedHeader.jwk) === found.jkt;
    return isProof ? undefined : 'invalid_dpop_proof';
  } catch {
    return 'invalid_dpop_proof';
  }
}

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'oidc', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'signed in' }] };
    default:
      return undefined;
  }
}

async function text(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function send(response, status, body) {
  response.statusCode = status;
  if (body === undefined) return response.end();
  response.setHeader('content-type', 'application/json');
  return response.end(JSON.stringify(body));
}
