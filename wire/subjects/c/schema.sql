create table jobs (
    id serial primary key,
    step int not null default 0,
    owner text,
    lease timestamptz,
    status text not null default 'ready'
);
create table effects (id serial, job int not null, step int not null);
