-- A journal of schema version 4: that of version 3, upgraded by the program that had this schema, with one program.
BEGIN TRANSACTION;
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    operation_hash TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'declined', 'used')),
    given_by TEXT,
    asked REAL NOT NULL,
    expires REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    asked TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    model TEXT NOT NULL,
    usage TEXT NOT NULL,
    plan TEXT,
    outcome TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    fence INTEGER NOT NULL
);
INSERT INTO "attempts" VALUES(1,'asked-1',1,'a box','0000000000000000000000000000000000000000000000000000000000000000','model-1','{"total":10}','{"request_id": "asked-1", "operations": []}','{"message":"nothing","request_id":"asked-1","stage":"validation","status":"refused"}','2026-11-17T01:36:46.404641Z',2);
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    record TEXT NOT NULL
);
INSERT INTO "audit" VALUES(1,'8cdc6f575e09dd3669cdcf3478f35bdbab8a4c3972f8f04d5a7c2f70a5388918','{"blender_mutation_id":null,"mcp_call_id":"0ee38540633e43c9ad9a6cb1ad918332","operation_id":"baseline","prev":"bef08a528d5d99f579600012783bc0bc3a0b4654046795496ab0ae6f3c380ae6","request_id":"workspace","safety_level":"safe_write","scene_hash_after":"bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f","scene_hash_before":"bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f","sequence":1,"status":"succeeded","timestamp":"2026-11-15T23:08:01.041859Z","tool_name":"workspace.new"}');
INSERT INTO "audit" VALUES(2,'8eea6b5653719aa0dc61adf414292681254ace9ae5e95bbe838a0f9c6b94eee6','{"blender_mutation_id":"48db28f5fbdf45839b30391fd91640d3","mcp_call_id":"a741f9b2d2324d039aa22d2154f8b53d","operation_id":"box","prev":"8cdc6f575e09dd3669cdcf3478f35bdbab8a4c3972f8f04d5a7c2f70a5388918","request_id":"old-1","safety_level":"safe_write","scene_hash_after":"bw1:5.0:b85fe9328df752afe2a824ae671d5de7c549090f4db06274cc7166861da1b130","scene_hash_before":"bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f","sequence":2,"status":"succeeded","timestamp":"2026-11-15T23:08:01.073636Z","tool_name":"mesh.create_primitive"}');
INSERT INTO "audit" VALUES(3,'684cb039689c7c98bcd88865bbefdb247299d9de7920ee0f3f1e389712372989','{"blender_mutation_id":"ff297c3bae784d529ca825812e8cce6e","mcp_call_id":"a3fc53a1bbaf4dd4a466b8dec65fc512","operation_id":"lift","prev":"8eea6b5653719aa0dc61adf414292681254ace9ae5e95bbe838a0f9c6b94eee6","request_id":"old-1","safety_level":"safe_write","scene_hash_after":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","scene_hash_before":"bw1:5.0:b85fe9328df752afe2a824ae671d5de7c549090f4db06274cc7166861da1b130","sequence":3,"status":"succeeded","timestamp":"2026-11-15T23:08:01.087516Z","tool_name":"object.transform"}');
INSERT INTO "audit" VALUES(4,'0cdfc3eff1f197034cc1dea8194dd5887bc6fcac532a268b5a9f1bf81f1c4cbe','{"blender_mutation_id":null,"mcp_call_id":"c06093b154bf4efaa9f22a56f54c222d","operation_id":"look","prev":"684cb039689c7c98bcd88865bbefdb247299d9de7920ee0f3f1e389712372989","request_id":"old-1","safety_level":"read_only","scene_hash_after":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","scene_hash_before":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","sequence":4,"status":"succeeded","timestamp":"2026-11-15T23:08:01.087516Z","tool_name":"scene.find"}');
INSERT INTO "audit" VALUES(5,'6dbd02f418dceebb7ca6ba1498d15f9fe33bbee23f68d6e3377d7bf7751af0fc','{"blender_mutation_id":"386b20a3699743f6b3186be4b5b0610e","mcp_call_id":"8936d991c9fd4ef4bd2da85b5eb7dffe","operation_id":"call","prev":"0cdfc3eff1f197034cc1dea8194dd5887bc6fcac532a268b5a9f1bf81f1c4cbe","request_id":"2942055333b548b99666802b171a1196","safety_level":"safe_write","scene_hash_after":"bw1:5.0:286cfeb9bc011e1c3a77674ab4aae3bd0aad63028bc0004174a2e11f09d26048","scene_hash_before":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","sequence":5,"status":"succeeded","timestamp":"2026-11-15T23:08:01.126005Z","tool_name":"object.create_empty"}');
CREATE TABLE boundaries (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    base INTEGER NOT NULL REFERENCES commits (number),
    state TEXT NOT NULL CHECK (state IN ('open', 'kept', 'rolled_back')),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL REFERENCES commits (number),
    scene_hash TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
INSERT INTO "checkpoints" VALUES(1,3,'bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f','3042232eb5dc9ed174c77bba39a768222663befaef0baaef6f1b16993f390c4f',405809,1,'2026-11-15T23:08:01.813154Z');
CREATE TABLE commits (
    number INTEGER PRIMARY KEY,
    parent INTEGER REFERENCES commits (number),
    kind TEXT NOT NULL CHECK (kind IN ('baseline', 'operation', 'adopt', 'rebaseline')),
    operation_key TEXT,
    request_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_version INTEGER NOT NULL,
    args TEXT NOT NULL,
    hash_before TEXT NOT NULL,
    hash_after TEXT NOT NULL,
    replayable INTEGER NOT NULL,
    receipt TEXT NOT NULL,
    audit_sequence INTEGER NOT NULL REFERENCES audit (sequence),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL,
    line INTEGER NOT NULL REFERENCES lines (id),
    generation INTEGER NOT NULL
);
INSERT INTO "commits" VALUES(1,NULL,'baseline',NULL,'workspace','baseline','workspace.new',1,'{}','bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f','bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f',1,'{"audit":{"hash":"8cdc6f575e09dd3669cdcf3478f35bdbab8a4c3972f8f04d5a7c2f70a5388918","sequence":1},"commit":1,"scene_hash_after":"bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f","status":"succeeded"}',1,1,'2026-11-15T23:08:01.041859Z',1,0);
INSERT INTO "commits" VALUES(2,1,'operation','f955b9e349359664525e7170ebd4aa124021f09d9568b89809143cd2d0571c1c','old-1','box','mesh.create_primitive',1,'{"cells":10,"collection":null,"depth":2.0,"fill":true,"kind":"cube","location":[0.0,0.0,0.0],"name":"Box","radius":1.0,"radius_top":0.0,"rings":16,"rotation_euler_deg":[0.0,0.0,0.0],"scale":[1.0,1.0,1.0],"segments":32,"size":2.0,"subdivisions":2,"tube_radius":0.25}','bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f','bw1:5.0:b85fe9328df752afe2a824ae671d5de7c549090f4db06274cc7166861da1b130',1,'{"audit":{"hash":"8eea6b5653719aa0dc61adf414292681254ace9ae5e95bbe838a0f9c6b94eee6","sequence":2},"blender_mutation_id":"48db28f5fbdf45839b30391fd91640d3","changes":[{"change":"created","kind":"member","name":"scene:Scene / Box"},{"change":"created","kind":"meshes","name":"Box"},{"change":"created","kind":"objects","name":"Box"}],"commit":2,"determinism_class":"deterministic","handles":[{"kind":"meshes","name":"Box"},{"kind":"objects","name":"Box"}],"mcp_call_id":"a741f9b2d2324d039aa22d2154f8b53d","operation_id":"box","operation_key":"f955b9e349359664525e7170ebd4aa124021f09d9568b89809143cd2d0571c1c","request_id":"old-1","result":{"created":true,"data":"Box","object":"Box"},"safety_level":"safe_write","scene_hash_after":"bw1:5.0:b85fe9328df752afe2a824ae671d5de7c549090f4db06274cc7166861da1b130","scene_hash_before":"bw1:5.0:3a73b8429ab4b38d7423c58296d342dce1d7222bfb29e371222e37b067058f6f","seed":null,"status":"succeeded","timestamp":"2026-11-15T23:08:01.065713Z","tolerance":null,"tool_name":"mesh.create_primitive","tool_version":1}',2,1,'2026-11-15T23:08:01.073636Z',1,1);
INSERT INTO "commits" VALUES(3,2,'operation','c0449a880e88284d00f6d0b36cd7588dd12d28ac239cdb1223b7c18bc69ca58d','old-1','lift','object.transform',1,'{"location":[0.0,0.0,2.0],"mode":"set","name":"Box","rotation_euler_deg":null,"rotation_quaternion":null,"scale":null}','bw1:5.0:b85fe9328df752afe2a824ae671d5de7c549090f4db06274cc7166861da1b130','bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f',1,'{"audit":{"hash":"684cb039689c7c98bcd88865bbefdb247299d9de7920ee0f3f1e389712372989","sequence":3},"blender_mutation_id":"ff297c3bae784d529ca825812e8cce6e","changes":[{"change":"changed","kind":"objects","name":"Box"}],"commit":3,"determinism_class":"deterministic","handles":[{"kind":"objects","name":"Box"}],"mcp_call_id":"a3fc53a1bbaf4dd4a466b8dec65fc512","operation_id":"lift","operation_key":"c0449a880e88284d00f6d0b36cd7588dd12d28ac239cdb1223b7c18bc69ca58d","request_id":"old-1","result":{"changed":true,"location":[0.0,0.0,2.0],"object":"Box","rotation":[0.0,0.0,0.0],"rotation_mode":"XYZ","scale":[1.0,1.0,1.0]},"safety_level":"safe_write","scene_hash_after":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","scene_hash_before":"bw1:5.0:b85fe9328df752afe2a824ae671d5de7c549090f4db06274cc7166861da1b130","seed":null,"status":"succeeded","timestamp":"2026-11-15T23:08:01.087106Z","tolerance":null,"tool_name":"object.transform","tool_version":1}',3,1,'2026-11-15T23:08:01.087516Z',1,2);
INSERT INTO "commits" VALUES(4,3,'operation','4d526fb1b99543c4d57a7e73faaa85231f58830f78fbbf6f390e74f42a36259a','2942055333b548b99666802b171a1196','call','object.create_empty',1,'{"collection":null,"display":"PLAIN_AXES","display_size":1.0,"location":[0.0,0.0,0.0],"name":"Gone","rotation_euler_deg":[0.0,0.0,0.0],"scale":[1.0,1.0,1.0]}','bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f','bw1:5.0:286cfeb9bc011e1c3a77674ab4aae3bd0aad63028bc0004174a2e11f09d26048',1,'{"audit":{"hash":"6dbd02f418dceebb7ca6ba1498d15f9fe33bbee23f68d6e3377d7bf7751af0fc","sequence":5},"blender_mutation_id":"386b20a3699743f6b3186be4b5b0610e","changes":[{"change":"created","kind":"member","name":"scene:Scene / Gone"},{"change":"created","kind":"objects","name":"Gone"}],"commit":4,"determinism_class":"deterministic","handles":[{"kind":"objects","name":"Gone"}],"mcp_call_id":"8936d991c9fd4ef4bd2da85b5eb7dffe","operation_id":"call","operation_key":"4d526fb1b99543c4d57a7e73faaa85231f58830f78fbbf6f390e74f42a36259a","request_id":"2942055333b548b99666802b171a1196","result":{"created":true,"data":null,"object":"Gone"},"safety_level":"safe_write","scene_hash_after":"bw1:5.0:286cfeb9bc011e1c3a77674ab4aae3bd0aad63028bc0004174a2e11f09d26048","scene_hash_before":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","seed":null,"status":"succeeded","timestamp":"2026-11-15T23:08:01.125793Z","tolerance":null,"tool_name":"object.create_empty","tool_version":1}',5,1,'2026-11-15T23:08:01.126005Z',1,3);
CREATE TABLE contracts (
    fingerprint TEXT PRIMARY KEY,
    contract TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE head_moves (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('commit', 'checkout', 'undo', 'redo', 'rollback')),
    from_commit INTEGER REFERENCES commits (number),
    to_commit INTEGER NOT NULL REFERENCES commits (number),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
INSERT INTO "head_moves" VALUES(1,'commit',NULL,1,1,'2026-11-15T23:08:01.041859Z');
INSERT INTO "head_moves" VALUES(2,'commit',1,2,1,'2026-11-15T23:08:01.073636Z');
INSERT INTO "head_moves" VALUES(3,'commit',2,3,1,'2026-11-15T23:08:01.087516Z');
INSERT INTO "head_moves" VALUES(4,'commit',3,4,1,'2026-11-15T23:08:01.126005Z');
INSERT INTO "head_moves" VALUES(5,'undo',4,3,1,'2026-11-15T23:08:01.708937Z');
CREATE TABLE intents (
    id INTEGER PRIMARY KEY,
    operation_key TEXT NOT NULL,
    request_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    effect TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'settled', 'indeterminate', 'resolved')),
    note TEXT,
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE TABLE lines (
    id INTEGER PRIMARY KEY,
    parent_line INTEGER REFERENCES lines (id),
    fork_generation INTEGER NOT NULL
);
INSERT INTO "lines" VALUES(1,NULL,-1);
CREATE TABLE programs (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    program TEXT NOT NULL,
    params TEXT NOT NULL,
    libraries TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    fence INTEGER NOT NULL
);
INSERT INTO "programs" VALUES(1,'written-1','0000000000000000000000000000000000000000000000000000000000000000','mesh.create_primitive(kind = "cube", name = "Box")
','{}','{}','2026-11-17T16:20:16.083857Z',3);
CREATE TABLE quarantines (
    id INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    expected TEXT NOT NULL,
    found TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    ended TEXT
);
CREATE TABLE readings (
    id INTEGER PRIMARY KEY,
    operation_key TEXT NOT NULL,
    request_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_version INTEGER NOT NULL,
    args TEXT NOT NULL,
    scene_hash TEXT NOT NULL,
    receipt TEXT NOT NULL,
    audit_sequence INTEGER NOT NULL REFERENCES audit (sequence),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
INSERT INTO "readings" VALUES(1,'9ae791738a1b4ec723c5219ae594b7880a8c3355ea30c919f7d3ff90e49ae1a1','old-1','look','scene.find',1,'{"box":null,"collection":null,"limit":200,"material":null,"name":"B*","offset":0,"property":null,"type":null}','bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f','{"audit":{"hash":"0cdfc3eff1f197034cc1dea8194dd5887bc6fcac532a268b5a9f1bf81f1c4cbe","sequence":4},"blender_mutation_id":null,"changes":[],"determinism_class":"deterministic","handles":[],"mcp_call_id":"c06093b154bf4efaa9f22a56f54c222d","operation_id":"look","operation_key":"9ae791738a1b4ec723c5219ae594b7880a8c3355ea30c919f7d3ff90e49ae1a1","request_id":"old-1","result":{"next_offset":null,"objects":[{"name":"Box","position":[0.0,0.0,2.0],"type":"MESH"}],"total":1},"safety_level":"read_only","scene_hash_after":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","scene_hash_before":"bw1:5.0:3c2290a36be39666a05966aabcf73d725af18fd008aee0e48df4d89ae0827c5f","seed":null,"status":"succeeded","timestamp":"2026-11-15T23:08:01.087368Z","tolerance":null,"tool_name":"scene.find","tool_version":1}',4,1,'2026-11-15T23:08:01.087516Z');
CREATE TABLE rolled_back (
    number INTEGER PRIMARY KEY REFERENCES commits (number),
    move INTEGER NOT NULL REFERENCES head_moves (id)
);
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    contract TEXT NOT NULL REFERENCES contracts (fingerprint),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    workspace TEXT NOT NULL,
    fence INTEGER NOT NULL,
    audit_sequence INTEGER NOT NULL,
    audit_hash TEXT NOT NULL
);
INSERT INTO "state" VALUES(1,'9a7698de426940dc9644c6e401188313',3,5,'6dbd02f418dceebb7ca6ba1498d15f9fe33bbee23f68d6e3377d7bf7751af0fc');
CREATE TABLE tags (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL REFERENCES commits (number)
) WITHOUT ROWID;
CREATE INDEX approvals_by_operation ON approvals (operation_hash);
CREATE TRIGGER audit_stay_DELETE BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'audit never change');
END;
CREATE TRIGGER audit_stay_UPDATE BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'audit never change');
END;
CREATE UNIQUE INDEX one_open_boundary ON boundaries (state) WHERE state = 'open';
CREATE INDEX checkpoints_by_commit ON checkpoints (number);
CREATE INDEX adoptions ON commits (generation) WHERE kind = 'adopt';
CREATE INDEX commits_by_key ON commits (operation_key) WHERE operation_key IS NOT NULL;
CREATE INDEX commits_by_name ON commits (request_id, operation_id);
CREATE UNIQUE INDEX commits_on_line ON commits (line, generation);
CREATE TRIGGER commits_stay_DELETE BEFORE DELETE ON commits BEGIN
    SELECT RAISE(ABORT, 'commits never change');
END;
CREATE TRIGGER commits_stay_UPDATE BEFORE UPDATE ON commits BEGIN
    SELECT RAISE(ABORT, 'commits never change');
END;
CREATE INDEX not_replayable ON commits (generation) WHERE replayable = 0;
CREATE UNIQUE INDEX one_baseline ON commits (kind) WHERE kind = 'baseline';
CREATE TRIGGER contracts_stay_DELETE BEFORE DELETE ON contracts BEGIN
    SELECT RAISE(ABORT, 'contracts never change');
END;
CREATE TRIGGER contracts_stay_UPDATE BEFORE UPDATE ON contracts BEGIN
    SELECT RAISE(ABORT, 'contracts never change');
END;
CREATE TRIGGER head_moves_stay_DELETE BEFORE DELETE ON head_moves BEGIN
    SELECT RAISE(ABORT, 'head_moves never change');
END;
CREATE TRIGGER head_moves_stay_UPDATE BEFORE UPDATE ON head_moves BEGIN
    SELECT RAISE(ABORT, 'head_moves never change');
END;
CREATE INDEX pending_intents ON intents (state) WHERE state IN ('open', 'indeterminate');
CREATE TRIGGER lines_stay_DELETE BEFORE DELETE ON lines BEGIN
    SELECT RAISE(ABORT, 'lines never change');
END;
CREATE TRIGGER lines_stay_UPDATE BEFORE UPDATE ON lines BEGIN
    SELECT RAISE(ABORT, 'lines never change');
END;
CREATE UNIQUE INDEX one_quarantine ON quarantines ((ended IS NULL)) WHERE ended IS NULL;
CREATE INDEX readings_by_name ON readings (request_id, operation_id);
CREATE TRIGGER readings_stay_DELETE BEFORE DELETE ON readings BEGIN
    SELECT RAISE(ABORT, 'readings never change');
END;
CREATE TRIGGER readings_stay_UPDATE BEFORE UPDATE ON readings BEGIN
    SELECT RAISE(ABORT, 'readings never change');
END;
CREATE TRIGGER rolled_back_stay_DELETE BEFORE DELETE ON rolled_back BEGIN
    SELECT RAISE(ABORT, 'rolled_back never change');
END;
CREATE TRIGGER rolled_back_stay_UPDATE BEFORE UPDATE ON rolled_back BEGIN
    SELECT RAISE(ABORT, 'rolled_back never change');
END;
CREATE TRIGGER sessions_stay_DELETE BEFORE DELETE ON sessions BEGIN
    SELECT RAISE(ABORT, 'sessions never change');
END;
CREATE TRIGGER sessions_stay_UPDATE BEFORE UPDATE ON sessions BEGIN
    SELECT RAISE(ABORT, 'sessions never change');
END;
CREATE INDEX attempts_by_request ON attempts (request_id);
CREATE TRIGGER attempts_stay_UPDATE BEFORE UPDATE ON attempts BEGIN
    SELECT RAISE(ABORT, 'attempts never change');
END;
CREATE TRIGGER attempts_stay_DELETE BEFORE DELETE ON attempts BEGIN
    SELECT RAISE(ABORT, 'attempts never change');
END;
CREATE UNIQUE INDEX programs_by_request ON programs (request_id, hash);
CREATE TRIGGER programs_stay_UPDATE BEFORE UPDATE ON programs BEGIN
    SELECT RAISE(ABORT, 'programs never change');
END;
CREATE TRIGGER programs_stay_DELETE BEFORE DELETE ON programs BEGIN
    SELECT RAISE(ABORT, 'programs never change');
END;
COMMIT;
PRAGMA application_id = 1113025132;
PRAGMA user_version = 4;
